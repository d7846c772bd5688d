package docker

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

// Metrics takes one reading at once. CPUPercent is absent: it needs two
// readings a second apart. The engine answers 0 for what the host's control
// groups do not count, so a 0 that cannot be true of a running sandbox is
// absent too. Behind a kernel of its own the reading includes that kernel.
func (a *Adapter) Metrics(ctx context.Context, id string) (contract.Metrics, error) {
	const op = "Metrics"
	if err := a.mine(ctx, op, id); err != nil {
		return contract.Metrics{}, err
	}
	var s container.StatsResponse
	err := a.do(ctx, op, id, wire.Read, func(ctx context.Context) error {
		resp, err := a.cli.ContainerStats(ctx, id, client.ContainerStatsOptions{})
		if err != nil {
			return err
		}
		return errors.Join(json.NewDecoder(resp.Body).Decode(&s), resp.Body.Close())
	})
	if err != nil {
		return contract.Metrics{}, err
	}
	if s.Read.IsZero() {
		return contract.Metrics{}, a.errorf(op, id, port.CodeFailedPrecondition, port.OutcomeUnchanged, "the sandbox is not running")
	}
	m := contract.Metrics{At: s.Read}
	if n := s.CPUStats.CPUUsage.TotalUsage; n > 0 {
		d := time.Duration(n)
		m.CPUTotal = &d
	}
	m.MemoryBytes = count(memoryInUse(s.MemoryStats))
	m.MemoryLimitBytes = count(s.MemoryStats.Limit)
	m.Processes = count(s.PidsStats.Current)
	if len(s.Networks) > 0 {
		var received, sent int64
		for _, n := range s.Networks {
			received += int64(n.RxBytes)
			sent += int64(n.TxBytes)
		}
		m.NetworkReceivedBytes, m.NetworkSentBytes = &received, &sent
	}
	return m, nil
}

// memoryInUse leaves out file pages the kernel gives back when asked; their
// key differs between the two versions of control groups.
func memoryInUse(m container.MemoryStats) uint64 {
	for _, key := range []string{"total_inactive_file", "inactive_file"} {
		if n, ok := m.Stats[key]; ok && n < m.Usage {
			return m.Usage - n
		}
	}
	return m.Usage
}

func count(n uint64) *int64 {
	if n == 0 {
		return nil
	}
	v := int64(n)
	return &v
}
