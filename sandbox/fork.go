package sandbox

import (
	"context"
	"fmt"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
)

// Fork makes a second sandbox that starts as this one is now, and returns when a
// command has run in it. The source goes on as it was and need not be owned; the
// fork is owned and may live as long as this one. What has to be created on the way is in
// the ledger and is destroyed after the fork. Keeps "" means the disk; what the
// manifest does not say a fork carries over is refused.
func (s *Sandbox) Fork(ctx context.Context, request contract.ForkRequest) (*Sandbox, error) {
	op := operation{name: "Fork", capability: contract.CapabilityFork, effect: contract.EffectCreate,
		limit: limitProvision, id: s.ID(), args: []any{request}}
	if err := s.p.admit(op); err != nil {
		return nil, err
	}
	if request.Keeps == "" {
		request.Keeps = contract.KeepsDisk
	}
	if has := s.p.driver.Manifest.ForkKeeps; request.Keeps == contract.KeepsDiskAndMemory && has != contract.KeepsDiskAndMemory {
		e := s.p.refuse(op, port.CodeUnsupported, fmt.Sprintf("a fork carries over %s here", first(string(has), "nobody knows what")))
		e.Capability, e.Support = string(contract.CapabilityFork), string(s.p.Claim(contract.CapabilityFork).Support)
		return nil, e
	}
	disposition, reapAt := s.heritage()
	m, err := create(ctx, s.p, creation[contract.ForkResult]{op: op, kind: ledger.KindSandbox, name: request.Name,
		parent: s.ID(), disposition: disposition, reapAt: reapAt,
		call: func(ctx context.Context, tags contract.Tags) (contract.ForkResult, error) {
			r := request
			r.Tags = tags
			return s.p.table.Fork(ctx, s.ID(), r)
		},
		id:        func(r contract.ForkResult) string { return r.Instance.ID },
		leftovers: func(r contract.ForkResult) []contract.Intermediate { return r.Intermediates },
		find:      s.p.forkFinder()})
	if err != nil {
		return nil, err
	}
	return s.p.handOver(ctx, m.target, m.value.Instance, m.extras, false)
}

// forkFinder finds the fork; what was made on the way to it carries the same
// tags, and the reaper finds it by them.
func (p *Provider) forkFinder() func(context.Context, contract.Tags) (contract.ForkResult, string, error) {
	find := p.finder()
	if find == nil {
		return nil
	}
	return func(ctx context.Context, tags contract.Tags) (contract.ForkResult, string, error) {
		i, id, err := find(ctx, tags)
		return contract.ForkResult{Instance: i}, id, err
	}
}
