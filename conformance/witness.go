package conformance

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

// witness is a host that a check controls: whoever connects to it is told a
// word, and it knows whether anybody came. What happened is so seen from both
// sides, and a probe that fails for another reason proves nothing by itself.
type witness struct {
	ln   net.Listener
	port string
	word string

	mu       sync.Mutex
	visitors int
}

// witness listens on an address of this machine until the check ends.
func (t *trial) witness(ctx context.Context, address string) (*witness, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		return nil, unknown(NotAttempted, "nothing can listen on %s, which the sandboxes are said to reach: %v", address, err)
	}
	_, number, err := net.SplitHostPort(ln.Addr().String())
	if err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	w := &witness{ln: ln, port: number, word: "sbxc-witness-" + t.s.nonce()}
	served := make(chan struct{})
	go func() {
		defer close(served)
		w.serve()
	}()
	t.cleanup(func(context.Context) error {
		err := ln.Close()
		<-served
		return err
	})
	return w, nil
}

// serve answers so that a plain connection and an HTTP client both see the word.
func (w *witness) serve() {
	for {
		c, err := w.ln.Accept()
		if err != nil {
			return // closed: the check has ended
		}
		w.mu.Lock()
		w.visitors++
		w.mu.Unlock()
		deadline := c.SetDeadline(time.Now().Add(5 * time.Second))
		_, wrote := fmt.Fprintf(c, "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n%s\n", w.word)
		if errors.Join(deadline, wrote, c.Close()) != nil {
			continue // the visitor left; that it came is counted
		}
	}
}

func (w *witness) seen() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.visitors
}

// connect is a script that prints what host $1, port $2 says, with whatever the
// image has; 42 says that there is nothing to connect with.
const connect = `if command -v nc > /dev/null; then nc -w 4 "$1" "$2" < /dev/null
elif command -v busybox > /dev/null; then busybox nc -w 4 "$1" "$2" < /dev/null
elif command -v bash > /dev/null; then timeout 5 bash -c 'exec 3<> "/dev/tcp/$0/$1" && cat <&3' "$1" "$2"
elif command -v wget > /dev/null; then wget -q -T 4 -O - "http://$1:$2/"
elif command -v curl > /dev/null; then curl -s -m 4 "http://$1:$2/"
else exit 42; fi || true`

// reaches reports whether a command in sb gets to the witness under a host's
// name or address. Half a connection, seen from one side only, counts.
func (t *trial) reaches(ctx context.Context, sb *sandbox.Sandbox, w *witness, host string) (bool, error) {
	before := w.seen()
	res, err := sb.Exec(ctx, contract.Command{Argv: []string{"sh", "-c", connect, "sh", host, w.port}, Timeout: execLimit})
	switch {
	case err != nil:
		return false, err
	case res.ExitCode == 42:
		return false, unknown(NotAttempted, "the image has nothing to connect with")
	}
	return strings.Contains(string(res.Stdout), w.word) || w.seen() > before, nil
}

// controlled is the host of the egress checks: an address of this machine, and a
// sandbox without a policy, which shows whether the address is any use.
func (t *trial) controlled(ctx context.Context) (w *witness, reached bool, err error) {
	address := t.s.h.Witness.Address
	if address == "" {
		return nil, false, unknown(NotAttempted, "no host that the check controls is known to be within a sandbox's reach")
	}
	if w, err = t.witness(ctx, address); err != nil {
		return nil, false, err
	}
	sb, err := t.create(ctx)
	if err != nil {
		return nil, false, err
	}
	reached, err = t.reaches(ctx, sb, w, address)
	return w, reached, err
}

// underPolicy makes a sandbox under a policy that the manifest says is enforced.
func (t *trial) underPolicy(ctx context.Context, policy contract.EgressPolicy) (*sandbox.Sandbox, error) {
	sb, err := t.attempt(ctx, t.s.p, sandbox.WithEgress(policy))
	if err != nil {
		return nil, fmt.Errorf("create with egress %s, which the manifest says is enforced: %w", policy.Mode, err)
	}
	if r, ok := t.createRequest(); !ok || r.Egress == nil || r.Egress.Mode != policy.Mode {
		return nil, fmt.Errorf("the policy %s did not reach the adapter", policy.Mode)
	}
	return sb, nil
}

// enforces is nil for a provider that enforces policies. For another one it sees
// that restricting policies are refused, and says so.
func (t *trial) enforces(ctx context.Context) error {
	switch control := t.s.h.Driver.Manifest.Egress; control {
	case contract.EgressControlHosts, contract.EgressControlHostsAndCIDRs:
		return nil
	case contract.EgressControlNone:
		for _, policy := range restricting() {
			if err := t.refusesEgress(ctx, policy); err != nil {
				return err
			}
		}
		return refused("the manifest says that no policy is enforced, and each one was refused before anything was created")
	default:
		return unknown(NotAttempted, "whether the provider enforces a policy is not known")
	}
}

// allowAllIsRefused requires that a provider whose sandboxes reach nothing does
// not accept a request for everything.
func (t *trial) allowAllIsRefused(ctx context.Context) error {
	_, err := t.attempt(ctx, t.s.p, sandbox.WithEgress(contract.EgressPolicy{Mode: contract.EgressModeAllowAll}))
	return wantCode(err, port.CodeUnsupported, "create with egress allow-all, where sandboxes reach nothing,")
}
