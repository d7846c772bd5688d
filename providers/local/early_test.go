//go:build unix

package local

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// A kill may come while there is no namespace yet, while it is made, or when the
// command has just started: nothing may be left in any case.
func TestKillsThatComeEarly(t *testing.T) {
	each(t, func(t *testing.T, a *Adapter) {
		in := create(t, a)
		for i := range 60 {
			life := time.Duration(1+i*i*4) * time.Microsecond // up to 14 ms
			_, err := a.Exec(t.Context(), in.ID, contract.Command{Script: "setsid sleep 300 & sleep 301", Timeout: life})
			requireCode(t, port.CodeTimeout, err)
			noneLeft(t, in.ID)
		}
	})
}

func TestCallersThatAreKilledEarly(t *testing.T) {
	a := openAdapter(t, isolationBwrap)
	in := create(t, a)
	for range 40 {
		cmd, _ := startCaller(t, a, in.ID, "setsid sleep 300 & sleep 301")
		timer := time.NewTimer(time.Duration(rand.IntN(30_000)) * time.Microsecond)
		<-timer.C
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait())
		eventually(t, "nothing is left", func() bool { return running(t, in.ID) == 0 })
	}
}
