package conformance

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

func resourceChecks() map[string]proof {
	return map[string]proof{"create.resources-as-delivered": {run: resourcesAsDelivered, method: "Inspect"}}
}

// resourcesAsDelivered holds what a look-up reports against the limits that the
// sandbox's own kernel shows.
func resourcesAsDelivered(ctx context.Context, t *trial) error {
	cpus, memory := 1.0, int64(256)
	sb, err := t.attempt(ctx, t.s.p, sandbox.WithResources(contract.Resources{CPUs: &cpus, MemoryMiB: &memory}))
	if c := port.CodeOf(err); c == port.CodeUnsupported || c == port.CodeInvalidArgument {
		return noted("create refuses resources: %v", err)
	}
	if err != nil {
		return err
	}
	i, err := t.s.table().Inspect(ctx, sb.ID())
	if err != nil {
		return err
	}
	if i.Resources == nil || i.Resources.CPUs == nil && i.Resources.MemoryMiB == nil {
		return noted("the look-up reports no resources")
	}
	out, err := t.run(ctx, sb, cgroupLimits)
	if err != nil {
		return err
	}
	words := strings.Fields(out)
	if len(words) == 0 {
		return t.measured(ctx, sb, *i.Resources)
	}
	if len(words) != 3 {
		return unknown(NotAttempted, "the sandbox's kernel does not show its limits: %q", out)
	}
	return joinErrors(sameCPUs(i.Resources.CPUs, words[0], words[1]), sameMemory(i.Resources.MemoryMiB, words[2]))
}

// busy computes once alone and then three times at once, and prints when each
// began and ended, and the memory in KiB.
const busy = `one() { awk 'BEGIN { for (i = 0; i < 6000000; i++) x += i }'; }
now() { read -r at idle < /proc/uptime; echo "$at"; }
now; one; now; one & one & one & wait; now
awk '/^MemTotal:/ { print $2 }' /proc/meminfo`

// measured is for a kernel that keeps its limits to itself: its memory is all
// that there is inside, and work at once is done no faster than the processors
// reported allow.
func (t *trial) measured(ctx context.Context, sb *sandbox.Sandbox, r contract.Resources) error {
	faster := 0.0
	for range 3 { // other work on the machine disturbs the clock
		out, err := t.run(ctx, sb, busy)
		if err != nil {
			return err
		}
		words := strings.Fields(out)
		if len(words) != 4 {
			return unknown(NotAttempted, "the sandbox's kernel shows neither limits nor the time: %q", out)
		}
		if r.MemoryMiB != nil && words[3] != strconv.FormatInt(*r.MemoryMiB<<10, 10) {
			return fmt.Errorf("%d MiB are reported, inside there are %s KiB", *r.MemoryMiB, words[3])
		}
		var at [3]float64
		for i := range at {
			if at[i], err = strconv.ParseFloat(words[i], 64); err != nil {
				return unknown(NotAttempted, "the sandbox's clock cannot be read: %q", out)
			}
		}
		faster = 3 * (at[1] - at[0]) / max(at[2]-at[1], 0.01)
		if r.CPUs == nil || faster <= *r.CPUs*1.5 {
			return noted("the kernel inside shows no quota; three processes at once were %.2f times as fast as one", faster)
		}
	}
	return fmt.Errorf("%g processors are reported, and three processes at once were %.2f times as fast as one", *r.CPUs, faster)
}

// cgroupLimits prints quota, period and memory, of version 2 else of version 1.
const cgroupLimits = `cd /sys/fs/cgroup || exit 0
if test -r memory.max; then cat cpu.max memory.max
elif test -r memory/memory.limit_in_bytes; then cat cpu/cpu.cfs_quota_us cpu/cpu.cfs_period_us memory/memory.limit_in_bytes
fi 2> /dev/null || true`

func sameMemory(reported *int64, limit string) error {
	if reported != nil && limit != strconv.FormatInt(*reported<<20, 10) {
		return fmt.Errorf("%d MiB are reported, inside the limit is %s bytes", *reported, limit)
	}
	return nil
}

func sameCPUs(reported *float64, quota, period string) error {
	if reported == nil {
		return nil
	}
	q, errQ := strconv.ParseFloat(quota, 64)
	p, errP := strconv.ParseFloat(period, 64)
	if errQ != nil || errP != nil || math.Abs(q/p-*reported) > 0.01 {
		return fmt.Errorf("%g processors are reported, inside the quota is %s of %s", *reported, quota, period)
	}
	return nil
}
