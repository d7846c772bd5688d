package torture

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/internal/testengine"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/providers/docker"
	"github.com/agentworkforce/sbx/sandbox"
)

// edges kills this process at a chosen boundary. A boundary is the moment just
// before or just after a call that changes something at the vendor: between
// two of them lies exactly one ledger record or one vendor call.
type edges struct {
	killAt int64 // 0 never
	count  atomic.Int64
}

func (e *edges) pass() {
	if n := e.count.Add(1); e.killAt > 0 && n == e.killAt {
		if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
			panic(err)
		}
		select {} // the signal is on its way
	}
}

// edged decorates every operation that creates, changes or destroys.
func (e *edges) edged(t contract.Table) contract.Table {
	create, destroy, stop, start := t.Create, t.Destroy, t.Stop, t.Start
	snapshot, remove, fork := t.CreateSnapshot, t.DeleteSnapshot, t.Fork
	t.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
		return around(e, func() (contract.Instance, error) { return create(ctx, r) })
	}
	t.Destroy = func(ctx context.Context, id string) (port.DestroyOutcome, error) {
		return around(e, func() (port.DestroyOutcome, error) { return destroy(ctx, id) })
	}
	t.Stop = func(ctx context.Context, id string) (contract.Instance, error) {
		return around(e, func() (contract.Instance, error) { return stop(ctx, id) })
	}
	t.Start = func(ctx context.Context, id string) (contract.Instance, error) {
		return around(e, func() (contract.Instance, error) { return start(ctx, id) })
	}
	t.CreateSnapshot = func(ctx context.Context, id string, r contract.SnapshotRequest) (contract.Snapshot, error) {
		return around(e, func() (contract.Snapshot, error) { return snapshot(ctx, id, r) })
	}
	t.DeleteSnapshot = func(ctx context.Context, id string) (port.DestroyOutcome, error) {
		return around(e, func() (port.DestroyOutcome, error) { return remove(ctx, id) })
	}
	t.Fork = func(ctx context.Context, id string, r contract.ForkRequest) (contract.ForkResult, error) {
		return around(e, func() (contract.ForkResult, error) { return fork(ctx, id, r) })
	}
	return t
}

func around[T any](e *edges, call func() (T, error)) (T, error) {
	e.pass()
	v, err := call()
	e.pass()
	return v, err
}

// victim is the life that gets killed: create, exec, snapshot, fork, stop,
// start, and everything torn down again.
func victim(ctx context.Context, dir string, e *edges) (err error) {
	p, err := sandbox.Open(ctx, docker.Driver(), sandbox.WithStateDir(dir), sandbox.WithTable(e.edged))
	if err != nil {
		return err
	}
	defer func() { err = first(err, p.Close()) }()
	sb, err := p.Create(ctx, sandbox.WithImage(testengine.Image), sandbox.WithLabels(map[string]string{"torture": "victim"}))
	if err != nil {
		return err
	}
	if _, err := sb.Run(ctx, "sh", "-c", "echo hello > /tmp/state"); err != nil {
		return err
	}
	snap, err := sb.CreateSnapshot(ctx, contract.SnapshotRequest{Name: "torture"})
	if err != nil {
		return err
	}
	fork, err := sb.Fork(ctx, contract.ForkRequest{Keeps: contract.KeepsDisk})
	if err != nil {
		return err
	}
	if _, err := sb.Stop(ctx); err != nil {
		return err
	}
	if _, err := sb.Start(ctx); err != nil {
		return err
	}
	if _, err := fork.Destroy(ctx); err != nil {
		return err
	}
	if _, err := sb.Destroy(ctx); err != nil {
		return err
	}
	_, err = p.DeleteSnapshot(ctx, snap.ID)
	return err
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// childMain is the process that dies. It prints how many boundaries it passed
// when it was allowed to live.
func childMain(dir, killAt string) int {
	e := &edges{}
	if _, err := fmt.Sscan(killAt, &e.killAt); err != nil {
		fmt.Fprintln(os.Stderr, "kill at:", strings.TrimSpace(killAt), err)
		return 2
	}
	if err := victim(context.Background(), dir, e); err != nil {
		fmt.Fprintln(os.Stderr, "victim:", err)
		return 1
	}
	fmt.Println(e.count.Load())
	return 0
}
