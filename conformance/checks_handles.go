package conformance

import (
	"context"
	"fmt"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/sandbox"
)

// rehydratedHandles works on sandboxes by what the listing gave.
func rehydratedHandles(ctx context.Context, t *trial) error {
	var made [2]*sandbox.Sandbox
	for i := range made {
		sb, err := t.create(ctx)
		if err != nil {
			return err
		}
		made[i] = sb
	}
	if err := settles(ctx, func() error { return t.allListed(ctx, made[:]) }); err != nil {
		return err
	}
	for i, sb := range made {
		row, _, err := t.listed(ctx, contract.ListRequest{}, sb.ID())
		if err != nil {
			return err
		}
		handle, err := t.s.p.Attach(ctx, row.ID)
		if err != nil {
			return err
		}
		if _, err := t.run(ctx, handle, fmt.Sprintf("echo box %d > sbxc-who", i)); err != nil {
			return err
		}
	}
	for i, sb := range made {
		out, err := t.run(ctx, sb, "cat sbxc-who")
		if err := joinErrors(err, equal("a file written through a listed sandbox", fmt.Sprintf("box %d\n", i), out)); err != nil {
			return err
		}
	}
	return nil
}

func useKeepsLifetime(ctx context.Context, t *trial) error {
	var opts []sandbox.CreateOption
	if t.s.callable(contract.CapabilityLifetime) {
		opts = append(opts, sandbox.WithLifetime(time.Hour))
	}
	sb, err := t.create(ctx, opts...)
	if err != nil {
		return err
	}
	before, err := t.s.table().Inspect(ctx, sb.ID())
	if err != nil {
		return err
	}
	if err := joinErrors(t.alive(ctx, sb), second(sb.Inspect(ctx))); err != nil {
		return err
	}
	after, err := t.s.table().Inspect(ctx, sb.ID())
	switch {
	case err != nil:
		return err
	case before.ExpiresAt == nil && after.ExpiresAt == nil:
		return noted("the vendor reports no end, before and after")
	case before.ExpiresAt == nil || after.ExpiresAt == nil || !before.ExpiresAt.Equal(*after.ExpiresAt):
		return fmt.Errorf("using it moved its end from %v to %v", before.ExpiresAt, after.ExpiresAt)
	}
	return nil
}
