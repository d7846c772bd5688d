//go:build unix

package local

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/agentworkforce/sbx/port"
)

// direct is the command without isolation: a session of its own, so that it and
// its children can be ended as one group and have no terminal of the caller's.
func direct(p plan) (*exec.Cmd, error) {
	if err := enterable(p.dir); err != nil {
		return nil, failed(p.op, p.folder.id, port.CodeWorkdirUnusable, port.OutcomeUnchanged,
			"the working directory cannot be entered", err)
	}
	path, code := lookUp(p.argv[0], p.dir, p.env["PATH"])
	argv := p.argv
	if code != "" {
		path, argv = shell, cannotRun(p.argv[0], code)
	}
	return &exec.Cmd{Path: path, Args: argv, Dir: p.dir, Env: p.environ(), SysProcAttr: attributes(p.tty)}, nil
}

// otherwise is what to start instead of a program that is there and that the
// kernel does not run: sh for a script that names no interpreter, as execvp
// would; cannotRun when its interpreter is absent. It is nil for other failures
// and for bwrap, which does the same on its own side.
func otherwise(p plan, cmd *exec.Cmd, err error) *exec.Cmd {
	if p.meta.Isolation != isolationNone || cmd.Path == shell {
		return nil
	}
	var argv []string
	switch {
	case errors.Is(err, unix.ENOEXEC):
		argv = append([]string{"sh", cmd.Path}, p.argv[1:]...)
	case errors.Is(err, unix.ENOENT) && runnable(cmd.Path) == "" && enterable(p.dir) == nil:
		argv = cannotRun(p.argv[0], "127")
	default:
		return nil
	}
	return &exec.Cmd{Path: shell, Args: argv, Dir: p.dir, Env: p.environ(), SysProcAttr: attributes(p.tty)}
}

// cannotRun stands in for a program that cannot be run and ends as a shell
// would: 127 when there is none, 126 when it is not executable.
func cannotRun(name, code string) []string {
	reason := "not found"
	if code == "126" {
		reason = "cannot be executed"
	}
	return []string{"sh", "-c", `printf '%s: %s\n' "$1" "$2" >&2; exit "$3"`, "sh", name, reason, code}
}

func enterable(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &fs.PathError{Op: "chdir", Path: dir, Err: unix.ENOTDIR}
	}
	return unix.Access(dir, unix.X_OK)
}

// lookUp finds the program as execvp would in the command's own directory and
// PATH. The code is "" or a shell's exit code.
func lookUp(name, dir, path string) (found, code string) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, runnable(name)
	}
	code = "127"
	for _, d := range filepath.SplitList(path) {
		if !filepath.IsAbs(d) {
			d = filepath.Join(dir, d)
		}
		file := filepath.Join(d, name)
		switch runnable(file) {
		case "":
			return file, ""
		case "126":
			code = "126"
		}
	}
	return "", code
}

func runnable(file string) string {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR):
		return "127"
	case err != nil || !info.Mode().IsRegular() || unix.Access(file, unix.X_OK) != nil:
		return "126"
	}
	return ""
}
