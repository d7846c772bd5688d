package local

import (
	"os/exec"
	"syscall"
)

// commandPath is the PATH of commands that are given none.
const commandPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// attributes put the process into its own session and end it with this one.
func attributes(tty bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Setctty: tty, Pdeathsig: syscall.SIGKILL}
}

func systemRefusal() string { return "" }

func findBwrap() string {
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return ""
	}
	return path
}
