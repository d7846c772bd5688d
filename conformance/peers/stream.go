package peers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
)

// streamed is what a stream gave.
type streamed struct {
	out, errs string
	first     time.Duration // until the first bytes
	code      int
}

// stream runs a script with live output to its end, or for at most life.
func (b *box) stream(ctx context.Context, script string, life time.Duration) (got streamed, err error) {
	ctx, cancel := context.WithTimeout(ctx, life)
	defer cancel()
	began := time.Now()
	p, err := b.t.Stream(ctx, b.i.ID, contract.Command{Script: script, Timeout: life})
	if err != nil {
		return got, err
	}
	if p == nil {
		return got, errors.New("there is no process")
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	stop := context.AfterFunc(ctx, func() {
		if p.Kill(context.WithoutCancel(ctx)) != nil {
			return // Wait says what became of it
		}
	})
	defer stop()
	var out, errs bytes.Buffer
	var readers sync.WaitGroup
	for _, r := range []struct {
		from io.Reader
		to   *bytes.Buffer
	}{{p.Stdout(), &out}, {p.Stderr(), &errs}} {
		if r.from == nil {
			continue
		}
		readers.Go(func() {
			one := make([]byte, 1)
			n, readErr := r.from.Read(one)
			r.to.Write(one[:n])
			if r.to == &out {
				got.first = time.Since(began)
			}
			if readErr == nil {
				_, readErr = io.Copy(r.to, r.from)
			}
			if readErr != nil {
				return // the peer takes what it has
			}
		})
	}
	readers.Wait()
	got.out, got.errs = out.String(), errs.String()
	got.code, err = p.Wait(ctx)
	return got, err
}

func streamLive(ctx context.Context, b *box) error {
	began := time.Now()
	got, err := b.stream(ctx, "echo first; sleep 2; echo last", 20*time.Second)
	switch took := time.Since(began); {
	case err != nil:
		return err
	case !strings.Contains(got.out, "first") || !strings.Contains(got.out, "last"):
		return fmt.Errorf("output %q", got.out)
	case got.first > took/2:
		return fmt.Errorf("the first output came after %s of %s", got.first, took)
	}
	return nil
}

func streamSplit(ctx context.Context, b *box) error {
	got, err := b.stream(ctx, "echo out; echo err >&2; exit 3", 20*time.Second)
	switch {
	case err != nil:
		return err
	case !strings.Contains(got.out, "out") || !strings.Contains(got.errs, "err") || got.code != 3:
		return fmt.Errorf("exit code %d, output %q, errors %q", got.code, got.out, got.errs)
	}
	return nil
}

func streamDeadline(ctx context.Context, b *box) error {
	began := time.Now()
	_, err := b.stream(ctx, "sleep 60", 5*time.Second)
	if took := time.Since(began); took > 20*time.Second {
		return fmt.Errorf("it ended after %s: %w", took, err)
	}
	return nil // with an error or an exit code
}
