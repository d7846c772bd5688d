package mutants

import (
	"bytes"
	"context"
	"io"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// wrapped is a live command of which a mutant changes a part.
type wrapped struct {
	port.Process
	out  io.Reader
	kill func(context.Context) error
	end  func() error
	code func(int) int
}

func (w *wrapped) Stdout() io.Reader {
	if w.out != nil {
		return w.out
	}
	return w.Process.Stdout()
}

func (w *wrapped) Kill(ctx context.Context) error {
	if w.kill != nil {
		return w.kill(ctx)
	}
	return w.Process.Kill(ctx)
}

func (w *wrapped) Close() error {
	if w.end != nil {
		return w.end()
	}
	return w.Process.Close()
}

func (w *wrapped) Wait(ctx context.Context) (int, error) {
	n, err := w.Process.Wait(ctx)
	if err == nil && w.code != nil {
		n = w.code(n)
	}
	return n, err
}

// onStream changes a live command.
func onStream(fn func(c *contract.Command, w *wrapped)) func() func(contract.Table) contract.Table {
	return plain(func(t contract.Table) contract.Table {
		next := t.Stream
		t.Stream = func(ctx context.Context, id string, c contract.Command) (port.Process, error) {
			w := &wrapped{}
			p, err := next(ctx, id, c)
			if err != nil {
				return nil, err
			}
			w.Process = p
			fn(&c, w)
			return w, nil
		}
		return t
	})
}

// late holds output back until all of it is there.
type late struct {
	from io.Reader
	all  *bytes.Reader
}

func (l *late) Read(p []byte) (int, error) {
	if l.all == nil {
		b, err := io.ReadAll(l.from)
		if err != nil {
			return 0, err
		}
		l.all = bytes.NewReader(b)
	}
	return l.all.Read(p)
}

// deaf is a terminal that ignores its size, or loses its exit code.
type deaf struct {
	port.PTY
	sized bool
	code  bool
}

func (d *deaf) Resize(ctx context.Context, cols, rows int) error {
	if d.sized {
		return nil
	}
	return d.PTY.Resize(ctx, cols, rows)
}

func (d *deaf) Wait(ctx context.Context) (int, error) {
	n, err := d.PTY.Wait(ctx)
	if d.code {
		n = 0
	}
	return n, err
}

func onPTY(fn func(d *deaf)) func() func(contract.Table) contract.Table {
	return plain(func(t contract.Table) contract.Table {
		next := t.OpenPTY
		t.OpenPTY = func(ctx context.Context, id string, r contract.PTYRequest) (port.PTY, error) {
			p, err := next(ctx, id, r)
			if err != nil {
				return nil, err
			}
			d := &deaf{PTY: p}
			fn(d)
			return d, nil
		}
		return t
	})
}

// liveMutants break live commands, terminals, ports, logs and metrics.
func liveMutants() []Mutant {
	return []Mutant{
		{Name: "stream is a replay", Seen: "onStdout called when all is over", Kills: "exec.stream.live",
			Make: onStream(func(_ *contract.Command, w *wrapped) { w.out = &late{from: w.Process.Stdout()} })},
		{Name: "stream loses the exit code", Seen: "a stream that ends without its last frame", Kills: "exec.stream.live",
			Make: onStream(func(_ *contract.Command, w *wrapped) { w.code = func(int) int { return 0 } })},
		{Name: "stream without input", Seen: "an option that is not passed on", Kills: "exec.stream.stdin", Make: plain(func(t contract.Table) contract.Table {
			next := t.Stream
			t.Stream = func(ctx context.Context, id string, c contract.Command) (port.Process, error) {
				c.OpenStdin = false
				return next(ctx, id, c)
			}
			return t
		})},
		{Name: "stream merged undeclared", Seen: "a terminal behind the stream", Kills: "exec.stream.apart", Make: plain(func(t contract.Table) contract.Table {
			next := t.Stream
			t.Stream = func(ctx context.Context, id string, c contract.Command) (port.Process, error) {
				if c.Script != "" {
					c.Script = "exec 2>&1\n" + c.Script
				}
				return next(ctx, id, c)
			}
			return t
		})},
		{Name: "kill does nothing", Seen: "a kill endpoint that answers 200", Kills: "exec.stream.kill-ends-children",
			Make: onStream(func(_ *contract.Command, w *wrapped) { w.kill = func(context.Context) error { return nil } })},
		{Name: "close only hangs up", Seen: "a socket that is closed", Kills: "exec.stream.kill-ends-children",
			Make: onStream(func(_ *contract.Command, w *wrapped) { w.end = func() error { return nil } })},
		{Name: "no terminal", Seen: "a stream called a terminal", Kills: "pty.interactive", Make: plain(func(t contract.Table) contract.Table {
			next := t.OpenPTY
			t.OpenPTY = func(ctx context.Context, id string, r contract.PTYRequest) (port.PTY, error) {
				r.Command.Argv = append([]string{"sh", "-c", `"$@" < /dev/null 2>&1 | cat`, "sh"}, r.Command.Argv...)
				return next(ctx, id, r)
			}
			return t
		})},
		{Name: "resize ignored", Seen: "a method without a body", Kills: "pty.resize", Make: onPTY(func(d *deaf) { d.sized = true })},
		{Name: "terminal loses the exit code", Seen: "a close frame without a code", Kills: "pty.exit-code", Make: onPTY(func(d *deaf) { d.code = true })},
		{Name: "any port is open", Seen: "addresses made by a pattern", Kills: "ports.closed-refuses", Make: plain(func(t contract.Table) contract.Table {
			t.PortURL = func(_ context.Context, _ string, n int) (contract.PortAccess, error) {
				return contract.PortAccess{Port: int64(n), URL: "http://127.0.0.1:1", Audience: contract.PortAudienceHost}, nil
			}
			return t
		})},
		{Name: "tail ignored", Seen: "an option that is not passed on", Kills: "logs.tail", Make: plain(func(t contract.Table) contract.Table {
			next := t.Logs
			t.Logs = func(ctx context.Context, id string, r contract.LogsRequest) (port.ReadStream, error) {
				r.Tail = nil
				return next(ctx, id, r)
			}
			return t
		})},
		{Name: "metrics are zero", Seen: "what is not measured filled with 0", Kills: "metrics.reading-plausible", Make: onMetrics(func(m *contract.Metrics) {
			zero := int64(0)
			m.CPUTotal, m.MemoryBytes = nil, &zero
		})},
		{Name: "metrics never change", Seen: "a cached reading", Kills: "metrics.reading-plausible", Make: onMetrics(func(m *contract.Metrics) {
			*m.CPUTotal = 1
		})},
		{Name: "metrics without content", Seen: "a reading whose fields were renamed", Kills: "metrics.reading-plausible", Make: onMetrics(func(m *contract.Metrics) {
			m.CPUTotal = nil
		})},
	}
}

func onMetrics(fn func(m *contract.Metrics)) func() func(contract.Table) contract.Table {
	return plain(func(t contract.Table) contract.Table {
		next := t.Metrics
		t.Metrics = func(ctx context.Context, id string) (contract.Metrics, error) {
			m, err := next(ctx, id)
			if err == nil {
				fn(&m)
			}
			return m, err
		}
		return t
	})
}
