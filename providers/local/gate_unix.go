//go:build unix && !linux

package local

import (
	"os/exec"

	"github.com/agentworkforce/sbx/port"
)

// gate does not occur where there is no bwrap.
type gate struct{}

func (*gate) begin(bool) error { return nil }
func (*gate) shut()            {}
func (*gate) opened() bool     { return false }

func (a *Adapter) isolated(p plan) (*exec.Cmd, *gate, error) {
	return nil, nil, refuse(p.op, p.folder.id, port.CodeFailedPrecondition, "bwrap exists on Linux only")
}
