package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

// measurements are the metrics that this program has a way to measure.
func (r *run) measurements() []string {
	return []string{"create", "bare_create", "ready", "provider_ready", "exec", "exec_parallel_1", "exec_parallel_16", "first_output_byte",
		"file_write_1kib", "file_write_1mib", "file_write_64mib", "file_read_1kib", "file_read_1mib", "file_read_64mib",
		"stop", "start", "suspend", "resume", "snapshot", "fork", "destroy", "verified_gone"}
}

// measure takes every series. A series that has no sandbox to run in is unknown.
func (r *run) measure(ctx context.Context) {
	for n := range r.opts.Samples {
		if ctx.Err() != nil {
			break
		}
		r.observe("create", n+1, r.life(ctx))
	}
	sb, err := r.p.Create(ctx, r.h.Create...)
	if err != nil {
		r.without(err)
		return
	}
	r.a.Created++
	i := sb.Instance()
	r.a.Image, r.a.Region = i.Image, i.Region
	for _, series := range []struct {
		ids []string
		one func(context.Context, *sandbox.Sandbox) error
	}{
		{[]string{"exec"}, r.exec}, {[]string{"exec_parallel_1"}, r.execOne}, {[]string{"exec_parallel_16"}, r.execSixteen},
		{[]string{"first_output_byte"}, r.firstByte},
		{[]string{"file_write_1kib", "file_read_1kib"}, r.file("1kib", 1<<10)},
		{[]string{"file_write_1mib", "file_read_1mib"}, r.file("1mib", 1<<20)},
		{[]string{"file_write_64mib", "file_read_64mib"}, r.file("64mib", 64<<20)},
		{[]string{"snapshot"}, r.snapshot}, {[]string{"fork"}, r.fork},
		{[]string{"suspend", "resume"}, r.suspend}, {[]string{"stop", "start"}, r.stop},
	} {
		for n := range r.opts.Samples {
			if ctx.Err() != nil || !r.wanted(series.ids...) {
				break
			}
			r.observe(series.ids[0], n+1, series.one(ctx, sb))
		}
	}
	r.remove(ctx, sb)
}

// without says that nothing more can be measured.
func (r *run) without(err error) {
	for _, m := range r.metrics {
		if m.Unknown == "" && len(m.Samples) == 0 {
			m.Unknown, m.Detail = conformance.NoInstanceCreated, err.Error()
		}
	}
}

// remove destroys sb and takes the times of it, unless the vendor's absence
// cannot be proven.
func (r *run) remove(ctx context.Context, sb *sandbox.Sandbox) {
	report, err := sb.Destroy(ctx)
	answered, took := r.watch.destroyedAt(sb.ID())
	if report.Acknowledged && !answered.IsZero() {
		r.sample("destroy", took)
	} else {
		r.failure("destroy", orUnknown(err))
	}
	switch {
	case report.VerifiedGone:
		r.sample("verified_gone", time.Since(answered))
		r.a.VerifiedGone++
	case r.provesGone():
		r.failure("verified_gone", orUnknown(err))
		r.problem("destroying %s: %v", sb.ID(), err)
	default:
		m := r.metrics["verified_gone"]
		m.Unknown, m.Detail = conformance.NotAttempted, "the manifest says that nothing can prove absence"
	}
}

func orUnknown(err error) error {
	if err == nil {
		return errors.New("the vendor's answer was not seen")
	}
	return err
}

func (r *run) provesGone() bool {
	return slices.Contains([]contract.GoneProof{contract.GoneProofInspect, contract.GoneProofList, contract.GoneProofBoth}, r.p.Manifest().GoneProof)
}

// life is create to gone of one sandbox.
func (r *run) life(ctx context.Context) error {
	began := time.Now()
	sb, err := r.p.Create(ctx, append(slices.Clone(r.h.Create), sandbox.SkipReady())...)
	if err != nil {
		for _, id := range []string{"create", "bare_create", "ready", "provider_ready"} {
			r.failure(id, err)
		}
		return err
	}
	r.a.Created++
	defer r.remove(ctx, sb)
	created, running := r.watch.createdAt(sb.ID())
	r.sample("create", created.Sub(began))
	if running {
		r.sample("bare_create", created.Sub(began))
	} else if err := r.untilRunning(ctx, sb, began); err != nil {
		r.failure("bare_create", err)
	}
	if err := sb.Ready(ctx); err != nil {
		r.failure("ready", err)
		r.failure("provider_ready", err)
		return err
	}
	r.sample("ready", time.Since(began))
	r.sample("provider_ready", time.Since(created))
	return nil
}

func (r *run) untilRunning(ctx context.Context, sb *sandbox.Sandbox, began time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for {
		i, err := sb.Inspect(ctx)
		if err == nil && i.State == contract.StateRunning {
			r.sample("bare_create", time.Since(began))
			return nil
		}
		t := time.NewTimer(20 * time.Millisecond)
		select {
		case <-ctx.Done():
			t.Stop()
			return errors.Join(fmt.Errorf("it is %q", i.State), err, ctx.Err())
		case <-t.C:
		}
	}
}

func (r *run) exec(ctx context.Context, sb *sandbox.Sandbox) error {
	return r.took("exec", func() error { return short(ctx, sb) })
}

func (r *run) execOne(ctx context.Context, sb *sandbox.Sandbox) error {
	return r.took("exec_parallel_1", func() error { return short(ctx, sb) })
}

func (r *run) execSixteen(ctx context.Context, sb *sandbox.Sandbox) error {
	return r.took("exec_parallel_16", func() error {
		errs := make([]error, 16)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() { errs[i] = short(ctx, sb) })
		}
		wg.Wait()
		return errors.Join(errs...)
	})
}

func (r *run) firstByte(ctx context.Context, sb *sandbox.Sandbox) error {
	var p port.Process
	err := r.took("first_output_byte", func() (err error) {
		if p, err = sb.Stream(ctx, contract.Command{Script: "echo ok; sleep 1", Timeout: time.Minute}); err != nil {
			return err
		}
		_, err = io.ReadFull(p.Stdout(), make([]byte, 1))
		return err
	})
	if p != nil {
		if closeErr := p.Close(); closeErr != nil {
			r.problem("closing a stream: %v", closeErr)
		}
	}
	return err
}

// file writes and reads size bytes; what comes back has to be what went in.
func (r *run) file(name string, size int) func(context.Context, *sandbox.Sandbox) error {
	content := bytes.Repeat([]byte("0123456789abcde\n"), size/16)
	return func(ctx context.Context, sb *sandbox.Sandbox) error {
		path, err := r.home(ctx, sb)
		if err != nil {
			r.failure("file_write_"+name, err)
			return err
		}
		path += "/sbx-bench-" + name
		if err := r.took("file_write_"+name, func() error {
			return sb.WriteFile(ctx, path, 0o600, port.WriteStream{Reader: bytes.NewReader(content), Size: int64(size)})
		}); err != nil {
			return err
		}
		return r.took("file_read_"+name, func() (err error) {
			s, err := sb.ReadFile(ctx, path)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			got, err := io.ReadAll(s)
			if err == nil && !bytes.Equal(got, content) {
				err = errors.New("other content came back")
			}
			return err
		})
	}
}

// home is the directory commands start in.
func (r *run) home(ctx context.Context, sb *sandbox.Sandbox) (string, error) {
	res, err := sb.Shell(ctx, "pwd -P")
	if err != nil {
		return "", err
	}
	dir := string(bytes.TrimRight(res.Stdout, "\n/"))
	if res.ExitCode != 0 {
		return "", fmt.Errorf("pwd ended with exit code %d", res.ExitCode)
	}
	return dir, nil
}

func (r *run) snapshot(ctx context.Context, sb *sandbox.Sandbox) error {
	var s contract.Snapshot
	err := r.took("snapshot", func() (err error) {
		s, err = sb.CreateSnapshot(ctx, contract.SnapshotRequest{})
		return err
	})
	if err != nil {
		return err
	}
	if _, err := r.p.DeleteSnapshot(ctx, s.ID); err != nil {
		r.problem("deleting snapshot %s: %v", s.ID, err)
	}
	return nil
}

func (r *run) fork(ctx context.Context, sb *sandbox.Sandbox) error {
	var f *sandbox.Sandbox
	err := r.took("fork", func() (err error) {
		f, err = sb.Fork(ctx, contract.ForkRequest{})
		return err
	})
	if err != nil {
		return err
	}
	r.a.Created++
	report, err := f.Destroy(ctx)
	if report.VerifiedGone {
		r.a.VerifiedGone++
	} else if r.provesGone() {
		r.problem("destroying fork %s: %v", f.ID(), err)
	}
	return nil
}

func (r *run) stop(ctx context.Context, sb *sandbox.Sandbox) error {
	return r.pair(ctx, sb, "stop", "start", func() error { return drop(sb.Stop(ctx)) }, func() error { return drop(sb.Start(ctx)) })
}

func (r *run) suspend(ctx context.Context, sb *sandbox.Sandbox) error {
	return r.pair(ctx, sb, "suspend", "resume", func() error { return drop(sb.Suspend(ctx)) }, func() error { return drop(sb.Resume(ctx)) })
}

// pair measures going down and coming up again until a command has run.
func (r *run) pair(ctx context.Context, sb *sandbox.Sandbox, down, up string, goDown, comeUp func() error) error {
	if err := r.took(down, goDown); err != nil {
		return err
	}
	return r.took(up, func() error {
		if err := comeUp(); err != nil {
			return err
		}
		return sb.Ready(ctx)
	})
}

// drop keeps the error of a call whose value is not needed.
func drop[T any](_ T, err error) error { return err }
