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
	if len(words) != 3 {
		return unknown(NotAttempted, "the sandbox's kernel does not show its limits: %q", out)
	}
	return joinErrors(sameCPUs(i.Resources.CPUs, words[0], words[1]), sameMemory(i.Resources.MemoryMiB, words[2]))
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
