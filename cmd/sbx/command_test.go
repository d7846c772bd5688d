package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/port"
)

// fakeProcess has ended when it is made.
type fakeProcess struct {
	out     io.Reader
	waitErr error
	killErr error
	killed  bool
}

func (p *fakeProcess) Stdin() io.WriteCloser { return nil }
func (p *fakeProcess) Stdout() io.Reader     { return p.out }
func (p *fakeProcess) Stderr() io.Reader     { return strings.NewReader("") }
func (p *fakeProcess) Close() error          { return nil }
func (p *fakeProcess) Kill(context.Context) error {
	p.killed = true
	return p.killErr
}

func (p *fakeProcess) Wait(ctx context.Context) (int, error) {
	if p.waitErr == nil {
		return 3, ctx.Err()
	}
	return 0, p.waitErr
}

// cut delivers some output and then fails.
type cut struct{ err error }

func (c cut) Read(p []byte) (int, error) { return copy(p, "some"), c.err }

// full cannot be written to.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestWhatCannotBeReadIsNoReasonToEndACommand(t *testing.T) {
	var out bytes.Buffer
	a := &app{outside: outside{out: &out, err: io.Discard}}
	unusable := &port.Error{Code: port.CodeWorkdirUnusable, Op: "Stream"}
	proc := &fakeProcess{out: cut{io.ErrClosedPipe}, waitErr: unusable}
	e, err := a.attend(t.Context(), proc, false)
	require.ErrorIs(t, err, unusable)
	require.NotContains(t, err.Error(), "pipe", "the command's own end says it all")
	require.False(t, e.known)
	require.False(t, proc.killed)

	proc = &fakeProcess{out: cut{io.ErrUnexpectedEOF}}
	e, err = a.attend(t.Context(), proc, false)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "an exit code with half of the output is no success")
	require.False(t, e.known)
	require.Contains(t, out.String(), "some")

	proc = &fakeProcess{out: strings.NewReader("all")}
	e, err = a.attend(t.Context(), proc, false)
	require.NoError(t, err)
	require.Equal(t, 3, e.code)
}

func TestACommandThatCouldNotBeEndedIsNotSaidToBe(t *testing.T) {
	a := &app{outside: outside{out: full{}, err: io.Discard}}
	proc := &fakeProcess{out: strings.NewReader("all"), waitErr: context.Canceled, killErr: errors.New("it does not answer")}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // whoever asked has gone
	_, err := a.attend(ctx, proc, false)
	require.Equal(t, port.CodeOutcomeUnknown, port.CodeOf(err))
	require.NotContains(t, err.Error(), "was ended")
	require.ErrorContains(t, err, "could not be ended")
}
