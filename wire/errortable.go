package wire

import (
	"fmt"
	"net/http"

	"github.com/agentworkforce/sbx/port"
)

// Rule maps one vendor failure to the contract. Status 0 stands for any
// status, VendorCode "" for any code; a rule with neither is refused.
type Rule struct {
	Status     int
	VendorCode string
	Code       port.Code
	// Outcome holds for mutations: OutcomeUnchanged when the vendor definitely
	// applied nothing. The zero value counts as OutcomeUnknown. For reads it is
	// always OutcomeUnchanged.
	Outcome port.Outcome
	// Transient means the same request may succeed later. A read is then
	// repeated; a mutation is repeated only when Outcome is OutcomeUnchanged.
	// A matching rule without Transient stops the repetition that its status
	// alone would have caused.
	Transient bool
}

// ErrorTable is an adapter's whole mapping, given as data. The most specific
// rule wins: status and code, then code alone, then status alone. Order does
// not matter.
//
// What no rule matches is CodeUnavailable for a read, repeated for 429, 502,
// 503 and 504, and CodeOutcomeUnknown for a mutation, never repeated.
type ErrorTable []Rule

// CommonErrors returns rules that hold for most HTTP APIs, for an adapter to
// start from: 400 and 422, 401, 403, 404 and 429, all of which say that nothing
// was applied. Conflict and server errors are left out because their meaning
// differs from vendor to vendor.
func CommonErrors() ErrorTable {
	return ErrorTable{
		{Status: http.StatusBadRequest, Code: port.CodeInvalidArgument, Outcome: port.OutcomeUnchanged},
		{Status: http.StatusUnprocessableEntity, Code: port.CodeInvalidArgument, Outcome: port.OutcomeUnchanged},
		{Status: http.StatusUnauthorized, Code: port.CodeUnauthenticated, Outcome: port.OutcomeUnchanged},
		{Status: http.StatusForbidden, Code: port.CodePermissionDenied, Outcome: port.OutcomeUnchanged},
		{Status: http.StatusNotFound, Code: port.CodeNotFound, Outcome: port.OutcomeUnchanged},
		{Status: http.StatusTooManyRequests, Code: port.CodeRateLimited, Outcome: port.OutcomeUnchanged, Transient: true},
	}
}

// With returns a new table in which rules replace those of t with the same
// status and code and are added otherwise.
func (t ErrorTable) With(rules ...Rule) ErrorTable {
	out := make(ErrorTable, 0, len(t)+len(rules))
	for _, old := range t {
		replaced := false
		for _, r := range rules {
			replaced = replaced || (r.Status == old.Status && r.VendorCode == old.VendorCode)
		}
		if !replaced {
			out = append(out, old)
		}
	}
	return append(out, rules...)
}

// Lookup returns the rule for a vendor failure; ok is false when none matches.
func (t ErrorTable) Lookup(status int, vendorCode string) (rule Rule, ok bool) {
	best := 0
	for _, r := range t {
		if (r.Status != 0 && r.Status != status) || (r.VendorCode != "" && r.VendorCode != vendorCode) {
			continue
		}
		weight := 0
		if r.VendorCode != "" {
			weight += 2
		}
		if r.Status != 0 {
			weight++
		}
		if weight > best {
			rule, best = r, weight
		}
	}
	return rule, best > 0
}

func (t ErrorTable) check() error {
	type key struct {
		status int
		code   string
	}
	seen := make(map[key]bool, len(t))
	for i, r := range t {
		k := key{r.Status, r.VendorCode}
		switch {
		case r.Status == 0 && r.VendorCode == "":
			return fmt.Errorf("rule %d matches everything", i)
		case r.Code == "":
			return fmt.Errorf("rule %d (status %d, code %q) has no port code", i, r.Status, r.VendorCode)
		case seen[k]:
			return fmt.Errorf("status %d with code %q is mapped twice", r.Status, r.VendorCode)
		case r.Outcome == port.OutcomeDone:
			return fmt.Errorf("status %d with code %q: an error answer cannot state the outcome done", r.Status, r.VendorCode)
		}
		seen[k] = true
	}
	return nil
}

// unmappedTransient lists the statuses that a read repeats without a rule.
func unmappedTransient(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}
