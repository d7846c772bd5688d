//go:build unix && !linux

package local

import (
	"os/exec"
	"time"

	"github.com/agentworkforce/sbx/port"
)

// bwrapStatus does not occur where there is no bwrap.
type bwrapStatus struct{}

func (*bwrapStatus) begin(bool) error        { return nil }
func (*bwrapStatus) killAll()                {}
func (*bwrapStatus) gone(time.Duration) bool { return true }
func (*bwrapStatus) exitCode() (int, bool)   { return 0, false }

func (a *Adapter) isolated(p plan) (*exec.Cmd, *bwrapStatus, error) {
	return nil, nil, refuse(p.op, p.folder.id, port.CodeFailedPrecondition, "bwrap exists on Linux only")
}
