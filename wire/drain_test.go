package wire_test

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
	"github.com/stretchr/testify/require"
)

type page struct {
	items []string
	next  string
}

func pages(m map[string]page) func(context.Context, string) ([]string, string, error) {
	return func(_ context.Context, cursor string) ([]string, string, error) {
		p, ok := m[cursor]
		if !ok {
			return nil, "", errors.New("no such cursor")
		}
		return p.items, p.next, nil
	}
}

func self(s string) string { return s }

func TestDrainReadsAll(t *testing.T) {
	got, err := wire.Drain(t.Context(), pages(map[string]page{
		"": {[]string{"a", "b"}, "1"}, "1": {nil, "2"}, "2": {[]string{"b", "c"}, ""},
	}), wire.DrainOptions[string]{Key: self})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c"}, got)

	got, err = wire.Drain(t.Context(), pages(map[string]page{"": {}}), wire.DrainOptions[string]{})
	require.NoError(t, err)
	require.NotNil(t, got)
	require.Empty(t, got)
}

func TestDrainNeverReturnsAPart(t *testing.T) {
	endless := func(with bool) func(context.Context, string) ([]string, string, error) {
		return func(_ context.Context, c string) ([]string, string, error) {
			n := len(c) + 1
			if with {
				return []string{strconv.Itoa(n)}, c + "x", nil
			}
			return []string{"same"}, c + "x", nil
		}
	}
	for name, f := range map[string]func(context.Context, string) ([]string, string, error){
		"cycle":         pages(map[string]page{"": {[]string{"a"}, "1"}, "1": {[]string{"b"}, "2"}, "2": {[]string{"c"}, "1"}}),
		"same cursor":   pages(map[string]page{"": {[]string{"a"}, "1"}, "1": {[]string{"b"}, "1"}}),
		"too many":      endless(true),
		"nothing new":   endless(false),
		"no identity":   pages(map[string]page{"": {[]string{"a", ""}, ""}}),
		"a page failed": pages(map[string]page{"": {[]string{"a"}, "1"}}),
	} {
		fetched := 0
		counted := func(ctx context.Context, cursor string) ([]string, string, error) {
			fetched++
			return f(ctx, cursor)
		}
		got, err := wire.Drain(t.Context(), counted, wire.DrainOptions[string]{Key: self, MaxPages: 20, MaxEmpty: 5})
		require.Error(t, err, name)
		require.Nil(t, got, name)
		if name != "a page failed" {
			require.Equal(t, port.CodeProvider, port.CodeOf(err), name)
			require.Equal(t, map[string]int{"cycle": 3, "same cursor": 2, "too many": 20, "nothing new": 7, "no identity": 1}[name], fetched, name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	got, err := wire.Drain(ctx, func(context.Context, string) ([]string, string, error) {
		cancel()
		return []string{"a"}, "1", nil
	}, wire.DrainOptions[string]{})
	require.Equal(t, port.CodeCanceled, port.CodeOf(err))
	require.Nil(t, got)
}
