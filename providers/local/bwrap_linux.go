package local

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/agentworkforce/sbx/port"
)

const (
	argsFD = "3"

	// ttyProgram gives the command the terminal as its own from inside: were it
	// bwrap's, Ctrl-C would end bwrap and everything with it.
	ttyProgram = "/usr/bin/setsid"
)

// isolated is the command under bwrap. Its options travel through a file
// without a name: they hold the command's environment, and arguments of a
// process can be read by everybody on the machine.
func (a *Adapter) isolated(p plan) (*exec.Cmd, *gate, error) {
	argv := p.argv
	if p.tty {
		if _, err := os.Stat(ttyProgram); err != nil {
			return nil, nil, failed(p.op, p.folder.id, port.CodeFailedPrecondition, port.OutcomeUnchanged,
				"a terminal needs the setsid program of util-linux", err)
		}
		argv = append([]string{ttyProgram, "-c"}, argv...)
	}
	options, err := a.bwrapOptions(p)
	if err != nil {
		return nil, nil, fsFailure(p.op, p.folder.id, port.OutcomeUnchanged, err)
	}
	args, err := nameless(options)
	if err != nil {
		return nil, nil, fsFailure(p.op, p.folder.id, port.OutcomeUnchanged, err)
	}
	gate, err := newGate(args)
	if err != nil {
		return nil, nil, fsFailure(p.op, p.folder.id, port.OutcomeUnchanged, errors.Join(err, args.Close()))
	}
	cmd := &exec.Cmd{
		Path: a.bwrap,
		Args: append([]string{"bwrap", "--args", argsFD, "--", shell, "-c", gateScript, "sh"}, argv...),
		Dir:  "/",
		// bwrap itself sees nothing of the command's environment but the marks: it
		// is not to be steered by what is meant for the inside.
		Env:         []string{sandboxMark(p.folder.id), runVariable + "=" + p.run},
		ExtraFiles:  gate.files(),
		SysProcAttr: &syscall.SysProcAttr{Setsid: true}, // how it ends with the caller: see gate
	}
	return cmd, gate, nil
}

// bwrapOptions build the command's file system from nothing: every entry of the
// host's root directory read-only, the sandbox's own directories over it. (With
// the root itself bound read-only there would be no place for /sandbox.)
func (a *Adapter) bwrapOptions(p plan) ([]string, error) {
	entries, err := os.ReadDir("/")
	if err != nil {
		return nil, err
	}
	o := []string{"--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent", "--as-pid-1"}
	if os.Geteuid() == 0 {
		// Root stays root over its own files and can do nothing else that root can.
		o = append(o, "--cap-drop", "ALL", "--cap-add", "CAP_CHOWN", "--cap-add", "CAP_FOWNER", "--cap-add", "CAP_FSETID")
	}
	for _, e := range entries {
		path := "/" + e.Name()
		switch {
		case slices.Contains([]string{"/proc", "/dev", "/tmp", "/sandbox"}, path):
		case e.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return nil, err
			}
			o = append(o, "--symlink", target, path)
		default:
			binds, err := hostBinds(path)
			if err != nil {
				return nil, err
			}
			o = append(o, binds...)
		}
	}
	o = append(o, "--dev", "/dev", "--proc", "/proc")
	if sbx := a.state.Path(); visible(sbx) {
		// The ledger and the other sandboxes are nobody's business in there.
		o = append(o, "--tmpfs", sbx, "--remount-ro", sbx)
	}
	for _, area := range viewOf(p.folder, p.meta) {
		o = append(o, "--bind", area.dir, area.path)
	}
	o = append(o, "--remount-ro", "/", "--chdir", p.dir)
	for _, name := range slices.Sorted(maps.Keys(p.env)) {
		o = append(o, "--setenv", name, p.env[name])
	}
	return o, nil
}

// engineDirs are where container engines mount and unmount all the time. bwrap
// copies a tree with the mounts in it and gives up when one of them vanishes
// meanwhile, so what holds such a folder is bound piece by piece around it.
func engineDirs() []string {
	return []string{"/var/lib/docker", "/var/lib/containerd", "/run/docker", "/run/containerd", "/run/netns"}
}

// hostBinds shows a path of the machine, read only, without engineDirs.
func hostBinds(path string) ([]string, error) {
	holds := false
	for _, dir := range engineDirs() {
		if dir == path {
			return nil, nil
		}
		_, err := os.Lstat(dir)
		holds = holds || err == nil && strings.HasPrefix(dir, path+"/")
	}
	if !holds {
		return []string{"--ro-bind-try", path, path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		child := path + "/" + e.Name()
		if e.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(child)
			if err != nil {
				return nil, err
			}
			out = append(out, "--symlink", target, child)
			continue
		}
		binds, err := hostBinds(child)
		if err != nil {
			return nil, err
		}
		out = append(out, binds...)
	}
	return out, nil
}

// visible reports whether a host path can be seen in a sandbox at all.
func visible(path string) bool {
	for _, hidden := range []string{"/proc", "/dev", "/tmp", "/sandbox"} {
		if path == hidden || strings.HasPrefix(path, hidden+"/") {
			return false
		}
	}
	return filepath.IsAbs(path)
}

// nameless returns a file in memory that holds args, each ended by a NUL byte.
func nameless(args []string) (*os.File, error) {
	fd, err := unix.MemfdCreate("bwrap-args", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "bwrap-args")
	var b bytes.Buffer
	for _, arg := range args {
		b.WriteString(arg)
		b.WriteByte(0)
	}
	_, err = f.Write(b.Bytes())
	if err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
