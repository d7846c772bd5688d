//go:build unix

package local

import (
	"testing"

	"github.com/agentworkforce/sbx/generated/contract"
)

func benchEach(b *testing.B, bench func(b *testing.B, a *Adapter)) {
	for _, isolation := range []string{isolationBwrap, isolationNone} {
		b.Run(isolation, func(b *testing.B) {
			a, err := New(b.Context(), Config{StateDir: b.TempDir(), Isolation: isolation})
			if err != nil {
				b.Skip(err)
			}
			bench(b, a)
		})
	}
}

func BenchmarkExecTrue(b *testing.B) {
	benchEach(b, func(b *testing.B, a *Adapter) {
		in, err := a.Create(b.Context(), request())
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := a.Exec(b.Context(), in.ID, contract.Command{Argv: []string{"true"}}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkCreateExecDestroy(b *testing.B) {
	benchEach(b, func(b *testing.B, a *Adapter) {
		for b.Loop() {
			in, err := a.Create(b.Context(), request())
			if err != nil {
				b.Fatal(err)
			}
			if _, err := a.Exec(b.Context(), in.ID, contract.Command{Argv: []string{"true"}}); err != nil {
				b.Fatal(err)
			}
			if _, err := a.Destroy(b.Context(), in.ID); err != nil {
				b.Fatal(err)
			}
			if _, err := a.Inspect(b.Context(), in.ID); err == nil {
				b.Fatal("still there")
			}
		}
	})
}

func BenchmarkInspect(b *testing.B) {
	benchEach(b, func(b *testing.B, a *Adapter) {
		in, err := a.Create(b.Context(), request())
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := a.Inspect(b.Context(), in.ID); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkCreateDestroy(b *testing.B) {
	benchEach(b, func(b *testing.B, a *Adapter) {
		for b.Loop() {
			in, err := a.Create(b.Context(), request())
			if err != nil {
				b.Fatal(err)
			}
			if _, err := a.Destroy(b.Context(), in.ID); err != nil {
				b.Fatal(err)
			}
		}
	})
}
