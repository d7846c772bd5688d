package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/stretchr/testify/require"
)

// frozen is a vendor that can suspend and runs commands only where something runs.
type frozen struct{ *cloud }

func (f *frozen) Suspend(_ context.Context, id string) (contract.Instance, error) {
	return f.change(id, contract.StateSuspended)
}

func (f *frozen) Resume(_ context.Context, id string) (contract.Instance, error) {
	return f.change(id, contract.StateRunning)
}

func (f *frozen) Exec(ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
	if i, err := f.Inspect(ctx, id); err != nil || i.State != contract.StateRunning {
		return contract.ExecResult{}, errors.Join(err, &port.Error{Code: port.CodeFailedPrecondition, Outcome: port.OutcomeUnchanged})
	}
	return f.cloud.Exec(ctx, id, c)
}

// A refusal says what to do next.
func TestFailuresNameTheNextStep(t *testing.T) {
	d := newDesk(t)
	f := &frozen{d.c}
	driver := d.c.driver()
	driver.ID, driver.Manifest.ID = "frozen", "frozen"
	driver.Manifest.Claims[string(contract.CapabilitySuspend)] = contract.Claim{Support: contract.SupportSupported, Via: contract.ViaNative}
	driver.Manifest.Egress, driver.Manifest.Image = contract.EgressControlNone, ""
	driver.Open = func(context.Context, port.Settings) (contract.Adapter, error) { return f, nil }
	d.extra, d.vars["SBX_PROVIDER"] = []sandbox.Driver{driver}, "frozen"
	says := func(exit int, next string, args ...string) {
		t.Helper()
		require.Equal(t, exit, d.sbx(args...), d.err.String())
		require.Contains(t, d.err.String(), "\nsbx: "+next+"\n")
	}
	require.Equal(t, 0, d.sbx("new", "--image", "i"), d.err.String())
	require.Equal(t, 0, d.sbx("stop", "frozen:box-1"))
	says(exitSbx, "it is stopped: sbx start frozen:box-1", "exec", "frozen:box-1", "--", "say")
	require.Equal(t, 0, d.sbx("start", "frozen:box-1"))
	require.Equal(t, 0, d.sbx("suspend", "frozen:box-1"))
	says(exitSbx, "it is suspended: sbx resume frozen:box-1", "exec", "frozen:box-1", "--", "say")
	says(5, "sbx list shows which there are", "info", "frozen:none")
	says(5, "sbx list shows which there are", "rm", "frozen:none")
	says(4, "--allow-uncontained starts it all the same, reaching whatever it likes", "new", "--image", "i", "--egress", "example.com")
	d.vars["SBX_OWNER"] = "owner-b"
	says(8, "sbx adopt frozen:box-1 makes it yours", "rm", "frozen:box-1")
	require.Equal(t, 8, d.sbx("rm", "frozen:box-1", "--json"))
	var views []rmView
	require.NoError(t, json.Unmarshal(d.out.Bytes(), &views))
	require.Equal(t, []string{"sbx adopt frozen:box-1 makes it yours"}, views[0].Error.Next)
}

// needy is a vendor that wants to be told an image.
type needy struct{ *cloud }

func (*needy) Create(context.Context, contract.CreateRequest) (contract.Instance, error) {
	return contract.Instance{}, &port.Error{Code: port.CodeInvalidArgument, Outcome: port.OutcomeUnchanged, Reason: "there is no image"}
}

func TestTheImageHintIsThereWithSeveralProviders(t *testing.T) {
	d := newDesk(t)
	driver := d.c.driver()
	driver.ID, driver.Manifest.ID, driver.Manifest.Image = "needy", "needy", ""
	driver.Open = func(context.Context, port.Settings) (contract.Adapter, error) { return &needy{d.c}, nil }
	d.extra = []sandbox.Driver{driver}
	for _, providers := range []string{"needy", "needy,cloud"} {
		require.Equal(t, 1, d.sbx("new", "--provider", providers))
		require.Contains(t, d.err.String(), "--image names one, or images.needy in", providers)
	}
}

// mute is a vendor that does not answer any more.
type mute struct {
	*cloud
	code port.Code
}

func (m *mute) Inspect(context.Context, string) (contract.Instance, error) {
	return contract.Instance{}, &port.Error{Code: m.code, Reason: "nobody answers"}
}

// What could not be looked at is not gone, and not merely failed.
func TestRmOfWhatCannotBeReachedIsUnknown(t *testing.T) {
	d := newDesk(t)
	require.Equal(t, 0, d.sbx("new"))
	for code, exit := range map[port.Code]int{port.CodeUnavailable: exitUnknown, port.CodeTimeout: exitUnknown, port.CodeRateLimited: exitUnknown,
		port.CodeProvider: exitUnknown, port.CodeUnauthenticated: 6} {
		driver := d.c.driver()
		driver.ID, driver.Manifest.ID = "mute", "mute"
		driver.Open = func(context.Context, port.Settings) (contract.Adapter, error) { return &mute{d.c, code}, nil }
		d.extra = []sandbox.Driver{driver}
		require.Equal(t, exit, d.sbx("rm", "mute:box-1"), "%s: %s", code, d.err.String())
		require.Equal(t, exit == exitUnknown, strings.Contains(d.err.String(), "\nsbx: ask again when mute answers: sbx rm mute:box-1\n"), d.err.String())
		require.Empty(t, d.out.String())
		driver.Open = func(context.Context, port.Settings) (contract.Adapter, error) {
			return nil, &port.Error{Code: code, Reason: "nobody is there"}
		}
		d.extra[0] = driver
		require.Equal(t, exit, d.sbx("rm", "mute:box-1"), "%s: %s", code, d.err.String())
	}
	require.Len(t, d.c.boxes, 1)
}

// A setting that is wrong is a usage error that names its variable.
func TestWrongSettingsNameTheirVariable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, tc := range []struct{ name, value string }{{"SBX_STATE_DIR", file}, {"SBX_STATE_DIR", filepath.Join(file, "below")},
		{"SBX_STATE_DIR", "relative"}, {"SBX_OWNER", "BAD!"}, {"SBX_PROVIDER", "nope"}} {
		d := newDesk(t)
		d.vars[tc.name] = tc.value
		for _, args := range [][]string{{"new"}, {"list"}, {"info", "cloud:box-1"}, {"rm", "cloud:box-1"}, {"reap"}, {"ledger", "show"}} {
			if tc.name == "SBX_PROVIDER" && len(args) > 1 || args[0] == "reap" && tc.name == "SBX_PROVIDER" || args[0] == "ledger" && tc.name == "SBX_OWNER" {
				continue // they do not ask for it
			}
			require.Equal(t, exitUsage, d.sbx(args...), "%v %v: %s", tc, args, d.err.String())
			require.Contains(t, d.err.String(), tc.name, args)
		}
		require.Empty(t, d.c.boxes)
	}
	d := newDesk(t)
	driver := d.c.driver()
	driver.Open = func(context.Context, port.Settings) (contract.Adapter, error) {
		return nil, &port.Error{Code: port.CodeInvalidArgument, Reason: "there is no such region"}
	}
	driver.ID, driver.Manifest.ID = "picky", "picky"
	d.extra, d.vars["CLOUD_REGION"] = []sandbox.Driver{driver}, "moon"
	for _, args := range [][]string{{"new", "--provider", "picky"}, {"new", "--provider", "picky,cloud"}, {"info", "picky:x"}, {"list", "--provider", "picky"}} {
		require.Equal(t, exitUsage, d.sbx(args...), d.err.String())
		require.Contains(t, d.err.String(), "CLOUD_REGION")
		require.NotContains(t, d.err.String(), "moon")
	}
}

// Only what is nothing but an output nobody reads ends quietly.
func TestAClosedOutputIsQuietAlone(t *testing.T) {
	closed := &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}
	ended := &port.Error{Code: port.CodeCanceled, Op: "Stream", Reason: "the command was ended"}
	require.True(t, unread(closed))
	require.True(t, unread(errors.Join(outputError{closed}, ended)))
	require.True(t, unread(shownError{fmt.Errorf("printing: %w", closed)}))
	for _, err := range []error{nil, ended, errors.New("else"), errors.Join(closed, errors.New("else")), mattersError{closed},
		errors.Join(closed, &sandbox.UnverifiedError{Err: &port.Error{}}), &port.Error{Code: port.CodeUnavailable, Err: closed},
		errors.Join(closed, &port.Error{Code: port.CodeCanceled, Op: "Destroy"})} {
		require.False(t, unread(err), "%v", err)
	}
	d := newDesk(t)
	all := d.c.driver()
	for _, args := range [][]string{{"capabilities", "cloud"}, {"capabilities"}, {"list", "--json"}, {"version"}} {
		d.err.Reset()
		code := run(t.Context(), args, outside{out: pipeWriter{}, err: &d.err, drivers: func() []sandbox.Driver { return []sandbox.Driver{all} },
			driver: func(id string) (sandbox.Driver, bool) { return all, id == "cloud" },
			lookup: func(n string) (string, bool) { v, ok := d.vars[n]; return v, ok }})
		require.Equal(t, exitPipe, code, args)
		require.Empty(t, d.err.String(), args)
	}
}

// pipeWriter is a pipe that nobody reads.
type pipeWriter struct{}

func (pipeWriter) Write([]byte) (int, error) { return 0, syscall.EPIPE }
