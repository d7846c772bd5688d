package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/agentworkforce/sbx/conformance/faults"
	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// overrun is how long an operation may go on after its context has ended.
const overrun = 4 * time.Second

// deadlineBoundsCall calls every operation past the library with a context that
// has ended, and requires that it returns at once. What an operation does
// in the middle of its work when the time is up needs a vendor that can be held
// up; see package faults.
func deadlineBoundsCall(ctx context.Context, t *trial) error {
	sb, err := t.create(ctx)
	if err != nil {
		return err
	}
	dir, err := t.dir(ctx, sb)
	if err != nil {
		return err
	}
	table := t.s.table()
	for _, op := range contract.Operations() {
		if op.Capability != "" && !t.s.callable(op.Capability) {
			continue
		}
		ended, cancel := context.WithTimeout(ctx, time.Nanosecond)
		<-ended.Done()
		err := promptly(overrun, op.Name+" with a context that has ended", func() error {
			err := t.callTable(ended, table, sb.ID(), dir, op.Name)
			if _, mine := errors.AsType[*misuseError](err); mine {
				return err
			}
			return nil // refused or done: both are an answer
		})
		cancel()
		if err != nil {
			return err
		}
	}
	if t.s.h.Endpoint.Through == nil {
		return noted("with contexts that had ended; nothing could hold the vendor up in the middle of a call")
	}
	return spoiled(heldUp)(ctx, t)
}

// heldUp lets the vendor take longer than the caller has.
func heldUp(ctx context.Context, b *between) error {
	dir, err := b.dir(ctx, b.sb)
	if err != nil {
		return err
	}
	for _, op := range contract.Operations() {
		if op.Capability != "" && !b.s.callable(op.Capability) {
			continue
		}
		err := b.under(faults.Fault{Delay: time.Minute}, func() error {
			short, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
			defer cancel()
			return promptly(overrun, op.Name+" with half a second, at a vendor that takes a minute,", func() error {
				err := b.callTable(short, b.table, b.sb.ID(), dir, op.Name)
				if _, mine := errors.AsType[*misuseError](err); mine {
					return err
				}
				if err == nil {
					return fmt.Errorf("%s succeeded at a vendor that had not answered", op.Name)
				}
				return wantCode(err, port.CodeTimeout, op.Name+" at a vendor that does not answer in time")
			})
		})
		if v, ok := errors.AsType[*verdictError](err); ok && v.verdict == Unknown {
			continue // it asked the vendor nothing
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// misuseError is about the suite, not about the adapter.
type misuseError struct{ op string }

func (e *misuseError) Error() string { return "the suite does not know how to call " + e.op }

// callTable calls one operation of the adapter and lets go of what it gives.
func (t *trial) callTable(ctx context.Context, table contract.Table, id, dir, op string) error {
	if call, ok := t.fileCalls(ctx, table, id, dir)[op]; ok {
		return call()
	}
	command := contract.Command{Script: "exit 0", Timeout: execLimit}
	calls := map[string]func() error{
		"Scope":   func() error { return second(table.Scope(ctx)) },
		"Create":  func() error { return t.createPast(ctx, table) },
		"Inspect": func() error { return second(table.Inspect(ctx, id)) },
		"Exec":    func() error { return second(table.Exec(ctx, id, command)) },
		"Destroy": func() error { return second(table.Destroy(ctx, neverExisted(id))) },
		"List":    func() error { return second(table.List(ctx, contract.ListRequest{})) },
		"Stop":    func() error { return second(table.Stop(ctx, id)) },
		"Start":   func() error { return second(table.Start(ctx, id)) },
		"Suspend": func() error { return second(table.Suspend(ctx, id)) },
		"Resume":  func() error { return second(table.Resume(ctx, id)) },
		"Restart": func() error { return second(table.Restart(ctx, id)) },
		"Metrics": func() error { return second(table.Metrics(ctx, id)) },
		"PortURL": func() error { return second(table.PortURL(ctx, id, checkedPort)) },
		// Nothing is captured: what came of it could not be found again by its tags.
		"CreateSnapshot": func() error { return second(table.CreateSnapshot(ctx, neverExisted(id), contract.SnapshotRequest{})) },
		"Fork": func() error {
			return second(table.Fork(ctx, neverExisted(id), contract.ForkRequest{Keeps: t.s.h.Driver.Manifest.ForkKeeps}))
		},
		"InspectSnapshot": func() error { return second(table.InspectSnapshot(ctx, "none")) },
		"ListSnapshots":   func() error { return second(table.ListSnapshots(ctx)) },
		"DeleteSnapshot":  func() error { return second(table.DeleteSnapshot(ctx, "none")) },
		"Stream": func() error {
			p, err := table.Stream(ctx, id, command)
			return letGo(p, err)
		},
		"OpenPTY": func() error {
			p, err := table.OpenPTY(ctx, id, contract.PTYRequest{Command: command, Cols: 80, Rows: 24})
			return letGo(p, err)
		},
	}
	call, ok := calls[op]
	if !ok {
		return &misuseError{op}
	}
	return call()
}

func (t *trial) fileCalls(ctx context.Context, table contract.Table, id, dir string) map[string]func() error {
	path := dir + "/ended"
	return map[string]func() error{
		"ReadFile": func() error {
			s, err := table.ReadFile(ctx, id, path)
			return letGo(s.ReadCloser, err)
		},
		"WriteFile": func() error {
			return table.WriteFile(ctx, id, path, 0o600, port.WriteStream{Reader: emptyReader{}, Size: 0})
		},
		"Stat":    func() error { return second(table.Stat(ctx, id, path)) },
		"ReadDir": func() error { return second(table.ReadDir(ctx, id, dir)) },
		"Mkdir":   func() error { return table.Mkdir(ctx, id, path+"-dir", 0o700) },
		"Remove":  func() error { return table.Remove(ctx, id, path, false) },
		"Rename":  func() error { return table.Rename(ctx, id, path, path+"2") },
		"Logs": func() error {
			s, err := table.Logs(ctx, id, contract.LogsRequest{})
			return letGo(s.ReadCloser, err)
		},
	}
}

// letGo closes what an operation that succeeded has opened.
func letGo(c io.Closer, err error) error {
	if err != nil || c == nil {
		return err
	}
	return c.Close()
}

// createPast creates past the library and destroys what came of it.
func (t *trial) createPast(ctx context.Context, table contract.Table) error {
	request, ok := t.createRequest()
	if !ok {
		return fmt.Errorf("no create was seen to take after")
	}
	i, err := table.Create(ctx, request)
	if i.ID != "" {
		t.cleanup(func(ctx context.Context) error { return second(t.s.table().Destroy(ctx, i.ID)) })
	}
	return err
}
