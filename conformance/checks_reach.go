package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

func reachChecks() map[string]proof {
	return map[string]proof{
		"ports.answers":             {run: portAnswers, method: "PortURL"},
		"ports.closed-refuses":      {run: portClosed, method: "PortURL"},
		"logs.contains-output":      {run: logsContainOutput, method: "Logs"},
		"logs.tail":                 {run: logsTail, method: "Logs"},
		"metrics.reading-plausible": {run: metricsPlausible, method: "Metrics"},
	}
}

const checkedPort = 8087

// published starts a server in a sandbox and returns how its port is reached. It
// needs a program in the sandbox that can listen.
func (t *trial) published(ctx context.Context, number int) (*sandbox.Sandbox, contract.PortAccess, error) {
	sb, err := t.create(ctx, sandbox.WithPorts(number))
	if err != nil {
		return nil, contract.PortAccess{}, err
	}
	if err := t.serve(ctx, sb, number); err != nil {
		return nil, contract.PortAccess{}, err
	}
	access, err := sb.PortURL(ctx, number)
	return sb, access, err
}

// serve leaves a process behind that answers on a port.
func (t *trial) serve(ctx context.Context, sb *sandbox.Sandbox, number int) error {
	server := fmt.Sprintf(`if command -v nc > /dev/null; then n=nc; elif command -v busybox > /dev/null; then n='busybox nc'; else exit 42; fi
(while :; do printf 'HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\nsbxc-port' | $n -l -p %d || sleep 1; done) > /dev/null 2>&1 < /dev/null &
echo started`, number)
	res, err := sb.Exec(ctx, contract.Command{Script: server, Timeout: execLimit})
	switch {
	case err != nil:
		return err
	case res.ExitCode == 42:
		return unknown(NotAttempted, "the image has no nc to listen with")
	}
	return nil
}

// hostOf is the host and port of an address.
func hostOf(access contract.PortAccess) (string, error) {
	u, err := url.Parse(access.URL)
	if err != nil || u.Host == "" || u.User != nil {
		return "", fmt.Errorf("the access %+v is not usable: %v", access, err)
	}
	return u.Host, nil
}

func portAnswers(ctx context.Context, t *trial) error {
	_, access, err := t.published(ctx, checkedPort)
	if err != nil {
		return err
	}
	u, err := url.Parse(access.URL)
	if err != nil || u.Host == "" || u.User != nil || access.Port != checkedPort {
		return fmt.Errorf("the access %+v is not usable: %v", access, err)
	}
	if access.Audience != contract.PortAudienceHost && access.Audience != contract.PortAudienceAnyone {
		return unknown(NotAttempted, "the port is open for %s only, which this run is not", access.Audience)
	}
	if err := t.until(ctx, 20*time.Second, func() (bool, error) { return answers(ctx, u.Host) }); err != nil {
		return fmt.Errorf("the published address: %w", err)
	}
	return nil
}

func answers(ctx context.Context, host string) (ok bool, err error) {
	d := net.Dialer{Timeout: 3 * time.Second}
	c, err := d.DialContext(ctx, "tcp", host)
	if err != nil {
		return false, err
	}
	defer func() { err = joinErrors(err, c.Close()) }()
	if err := c.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return false, err
	}
	if _, err := io.WriteString(c, "GET / HTTP/1.0\r\n\r\n"); err != nil {
		return false, err
	}
	b, err := io.ReadAll(c)
	return strings.Contains(string(b), "sbxc-port"), err
}

func portClosed(ctx context.Context, t *trial) error {
	sb, err := t.shared()
	if err != nil {
		return err
	}
	_, err = sb.PortURL(ctx, checkedPort+1)
	if err := wantCode(err, port.CodeFailedPrecondition, "a port that is not published"); err != nil {
		return err
	}
	gone, err := t.create(ctx, sandbox.WithPorts(checkedPort+4))
	if err != nil {
		return err
	}
	if _, err := t.s.table().PortURL(ctx, gone.ID(), checkedPort+4); err != nil {
		return fmt.Errorf("a published port: %w", err)
	}
	if err := t.destroyed(ctx, gone); err != nil {
		return err
	}
	_, err = t.s.table().PortURL(ctx, gone.ID(), checkedPort+4)
	return wantCode(err, port.CodeNotFound, "a port of a sandbox that is gone")
}

func readLogs(ctx context.Context, sb *sandbox.Sandbox, r contract.LogsRequest) (text string, err error) {
	s, err := sb.Logs(ctx, r)
	if err != nil {
		return "", err
	}
	defer func() { err = joinErrors(err, s.Close()) }()
	b, err := io.ReadAll(io.LimitReader(s, 1<<20))
	return string(b), err
}

// logged makes a sandbox and writes lines to the standard output of its main
// process, from a command. That is only tried where the main process is the
// sandbox's and not this machine's.
func (t *trial) logged(ctx context.Context, lines int) (*sandbox.Sandbox, error) {
	sb, err := t.create(ctx)
	if err != nil {
		return nil, err
	}
	i, err := sb.Inspect(ctx)
	if err != nil {
		return nil, err
	}
	switch i.Isolation {
	case contract.IsolationContainer, contract.IsolationUserKernel, contract.IsolationVM:
	default:
		return nil, unknown(NotAttempted, "with isolation %s the main process may be this machine's own", i.Isolation)
	}
	res, err := sb.Exec(ctx, contract.Command{Timeout: execLimit,
		Script: fmt.Sprintf("i=1; while [ $i -le %d ]; do echo sbxc-line-$i > /proc/1/fd/1 || exit 42; i=$((i + 1)); done", lines)})
	switch {
	case err != nil:
		return nil, err
	case res.ExitCode != 0:
		return nil, unknown(NotAttempted, "a command cannot write to the main process's output: %s", quoteHead(res.Stderr))
	}
	return sb, nil
}

func logsContainOutput(ctx context.Context, t *trial) error {
	sb, err := t.logged(ctx, 3)
	if err != nil {
		return err
	}
	return t.until(ctx, 10*time.Second, func() (bool, error) {
		text, err := readLogs(ctx, sb, contract.LogsRequest{})
		if err == nil && !strings.Contains(text, "sbxc-line-1\nsbxc-line-2\nsbxc-line-3\n") {
			err = fmt.Errorf("the log is %s", quoteHead([]byte(text)))
		}
		return err == nil, err
	})
}

// logsTail compares tails with the whole log; a log of fewer than two lines
// proves nothing.
func logsTail(ctx context.Context, t *trial) error {
	sb, err := t.logged(ctx, 5)
	if _, other := errors.AsType[*verdictError](err); other {
		sb, err = t.shared() // its log as it is may have lines enough
	}
	if err != nil {
		return err
	}
	all, err := readLogs(ctx, sb, contract.LogsRequest{})
	if err != nil {
		return err
	}
	lines := strings.SplitAfter(strings.TrimSuffix(all, "\n"), "\n")
	if len(lines) < 2 {
		return unknown(NotAttempted, "the sandbox's log has %d lines, too few to tell a tail from the whole", len(lines))
	}
	one := int64(1)
	tail, err := readLogs(ctx, sb, contract.LogsRequest{Tail: &one})
	if err != nil {
		return err
	}
	return equal("the last line", strings.TrimSuffix(lines[len(lines)-1], "\n"), strings.TrimSuffix(tail, "\n"))
}

func metricsPlausible(ctx context.Context, t *trial) error {
	sb, err := t.shared()
	if err != nil {
		return err
	}
	first, err := sb.Metrics(ctx)
	if err != nil {
		return err
	}
	if age := time.Since(first.At); age > 5*time.Minute || age < -5*time.Minute {
		return fmt.Errorf("the reading is of %s, %s from now", first.At, age)
	}
	if first.CPUPercent == nil && first.CPUTotal == nil && first.MemoryBytes == nil && first.Processes == nil {
		return errors.New("the reading has nothing in it")
	}
	if first.MemoryBytes != nil && *first.MemoryBytes <= 0 {
		return fmt.Errorf("%d bytes of memory in use", *first.MemoryBytes)
	}
	if _, err := t.exec(ctx, sb, contract.Command{Script: "awk 'BEGIN { for (i = 0; i < 2000000; i++) x += i }'"}); err != nil {
		return err
	}
	second, err := sb.Metrics(ctx)
	if err != nil {
		return err
	}
	if second.At.Before(first.At) || second.At.Equal(first.At) {
		return fmt.Errorf("a later reading is of %s, the one before it of %s", second.At, first.At)
	}
	if first.CPUTotal != nil && second.CPUTotal != nil && *second.CPUTotal <= *first.CPUTotal {
		return fmt.Errorf("after work the processor time went from %s to %s", *first.CPUTotal, *second.CPUTotal)
	}
	if first.CPUTotal == nil && first.CPUPercent == nil {
		return noted("processor use is not measured")
	}
	return nil
}
