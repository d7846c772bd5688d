package sandbox_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/stretchr/testify/require"
)

// TestNoSecretLeavesTheProcess lets a vendor repeat the credential wherever it
// can, and looks for it everywhere.
func TestNoSecretLeavesTheProcess(t *testing.T) {
	const brokered = "dummy-brokered-7d21"
	w := newWorld(t)
	leak := func() error {
		return &port.Error{Code: port.CodePermissionDenied, Reason: "bad token " + dummy,
			Err: errors.New("header: " + base64.StdEncoding.EncodeToString([]byte(dummy)) + " " + brokered)}
	}
	d := w.c.driver(supported()...)
	d.Manifest.BrokersSecrets = true
	p := w.openDriver(d, table(func(tb *contract.Table) {
		tb.Destroy = func(context.Context, string) (port.DestroyOutcome, error) { return "", leak() }
		tb.Stop = func(context.Context, string) (contract.Instance, error) { return contract.Instance{}, leak() }
	}))
	_, failed := w.open(table(func(tb *contract.Table) {
		inner := tb.Create
		tb.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
			i, err := inner(ctx, r)
			return i, errors.Join(err, fmt.Errorf("vendor said: %w", leak()))
		}
		tb.Destroy = func(context.Context, string) (port.DestroyOutcome, error) { return "", leak() }
	}), sandbox.WithRedacted(port.NewSecret(brokered))).Create(t.Context())
	s, err := p.Create(t.Context(), sandbox.WithSecrets(contract.BrokeredSecret{Name: "npm", Hosts: []string{"h"}, Value: port.NewSecret(brokered)}),
		sandbox.WithEnv(map[string]string{"A": dummy}))
	require.NoError(t, err)
	_, stop := s.Stop(t.Context())
	_, destroy := s.Destroy(t.Context())
	var said []string
	for _, err := range []error{failed, stop, destroy} {
		require.Error(t, err)
		said = append(said, err.Error(), fmt.Sprintf("%+v %#v", err, err))
		var e *sandbox.Error
		require.ErrorAs(t, err, &e)
		said = append(said, fmt.Sprint(e.Unwrap()), fmt.Sprintf("%+v", *e))
	}
	told, err := json.Marshal(w.told)
	require.NoError(t, err)
	said = append(said, string(told))
	require.NoError(t, filepath.WalkDir(w.state, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		said = append(said, string(raw))
		return err
	}))
	require.Greater(t, len(w.told), 4)
	for _, text := range said {
		require.NotContains(t, text, dummy)
		require.NotContains(t, text, brokered)
		require.NotContains(t, text, base64.StdEncoding.EncodeToString([]byte(dummy)))
	}
	raw, err := os.ReadFile(p.LedgerPath())
	require.NoError(t, err)
	require.Contains(t, string(raw), "npm", "the name of a secret handed over is recorded")
}
