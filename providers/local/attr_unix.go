//go:build unix && !linux

package local

import "syscall"

// commandPath is the PATH of commands that are given none.
const commandPath = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"

// attributes put the process into its own session. Nothing here ends it when
// the caller is killed.
func attributes(tty bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Setctty: tty}
}

func systemRefusal() string { return "" }

func findBwrap() string { return "" }
