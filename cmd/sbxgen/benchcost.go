package main

import (
	"fmt"
	"math"
)

// plan is how much a run is expected to use at most: a projection, not a bill.
type plan struct {
	creates int
	seconds float64 // of all sandboxes together
}

// The machine that a projection assumes where the harness does not say; the
// smallest that vendors rent out is smaller.
const (
	assumedCPUs = 2
	assumedGiB  = 4
)

// conformancePlan and benchmarkPlan are measured on the slowest engine at hand,
// rounded up.
func conformancePlan() plan { return plan{creates: 200, seconds: 200 * 60} }

func benchmarkPlan(samples int) plan {
	return plan{creates: 3*samples + 1, seconds: float64(samples)*90 + 900}
}

func (p plan) and(q plan) plan { return plan{p.creates + q.creates, p.seconds + q.seconds} }

// cost projects what a plan costs by the manifest's rates. known is false, with
// the reason, when a rate that matters is not known: an unknown cost is never 0.
func (p plan) cost(manifest any) (usd float64, known bool, why string) {
	m, _ := manifest.(map[string]any)
	pricing, _ := m["pricing"].(map[string]any)
	if pricing == nil {
		return 0, false, "the manifest says nothing about prices"
	}
	if reason, ok := pricing["unknown"].(string); ok {
		return 0, false, reason
	}
	if meter, _ := pricing["meter"].(map[string]any); meter["value"] == "none" {
		return 0, true, ""
	}
	rates, _ := pricing["rates"].([]any)
	if len(rates) == 0 {
		return 0, false, "the manifest has no rate"
	}
	for _, r := range rates {
		row, _ := r.(map[string]any)
		rate, _ := row["rate"].(map[string]any)
		value, _ := rate["value"].(map[string]any)
		if row["what"] == "subscription" {
			continue // paid whether this runs or not
		}
		if value == nil {
			return 0, false, fmt.Sprintf("the rate of %v is unknown", row["what"])
		}
		amount, ok := p.amount(fmt.Sprint(value["per"]))
		if !ok {
			return 0, false, fmt.Sprintf("how much of a %v is used is not known beforehand", value["per"])
		}
		usd += amount * number(value["usd"])
	}
	return usd, true, ""
}

// amount is how many of a unit the plan uses.
func (p plan) amount(per string) (float64, bool) {
	switch per {
	case "second":
		return p.seconds, true
	case "hour":
		return p.seconds / 3600, true
	case "day":
		return math.Ceil(p.seconds / 86400), true
	case "core-second", "vcpu-second", "active-vcpu-second":
		return p.seconds * assumedCPUs, true
	case "vcpu-hour", "active-vcpu-hour":
		return p.seconds / 3600 * assumedCPUs, true
	case "gib-second", "gb-second":
		return p.seconds * assumedGiB, true
	case "gib-hour", "gb-hour":
		return p.seconds / 3600 * assumedGiB, true
	case "create":
		return float64(p.creates), true
	case "million-creates":
		return float64(p.creates) / 1e6, true
	}
	return 0, false
}

func number(v any) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return math.NaN()
}

// underCeiling refuses a plan that may cost more than the ceiling; 0 is no
// ceiling. An unknown cost is over every ceiling.
func (p plan) underCeiling(manifest any, ceiling float64) error {
	if ceiling <= 0 {
		return nil
	}
	usd, known, why := p.cost(manifest)
	switch {
	case !known:
		return &costError{fmt.Sprintf("what it costs is unknown (%s), and a ceiling of %.2f USD was given", why, ceiling)}
	case !(usd <= ceiling):
		return &costError{fmt.Sprintf("it may cost %.2f USD, more than the ceiling of %.2f USD", usd, ceiling)}
	}
	return nil
}

// costError says that nothing was run because of what it may cost.
type costError struct{ reason string }

func (e *costError) Error() string { return e.reason }
