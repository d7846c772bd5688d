//go:build unix

package reference

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// guard ends what commands left running when this process is no longer there to
// do it, however it ended. It is a process of its own that waits for the end of a
// pipe whose other end is held here and nowhere else.
type guard struct{ told *os.File }

// watch keeps the process groups it is told about, and kills them at the end.
const watch = `all=' '
while read -r what group; do
	case $what in
	add) all="$all$group " ;;
	drop) all="${all%% $group *} ${all#* $group }" ;;
	esac
done
for group in $all; do kill -9 "-$group" 2> /dev/null; done`

func newGuard() (*guard, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("reference: guard: %w", err)
	}
	// A group of its own: what interrupts this process is not meant for it.
	cmd := &exec.Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", watch}, Stdin: r, SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}
	err = cmd.Start()
	if closeErr := r.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, fmt.Errorf("reference: guard: %w", err)
	}
	go func() {
		if cmd.Wait() != nil {
			return // a group was gone already
		}
	}()
	return &guard{told: w}, nil
}

// add has a process group ended with this process; drop takes it back when the
// group is gone and its number may come to be another's.
func (g *guard) add(group int) error { return g.tell("add", group) }

func (g *guard) drop(group int) error { return g.tell("drop", group) }

func (g *guard) tell(what string, group int) error {
	if _, err := fmt.Fprintln(g.told, what, group); err != nil {
		return fmt.Errorf("reference: guard: %w", err)
	}
	return nil
}
