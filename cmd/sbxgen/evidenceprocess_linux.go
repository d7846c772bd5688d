package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// lookAt searches the descendants of a process. A process that ends meanwhile is
// passed over.
func lookAt(root int, dummy, binary string) (found []string, looked []int) {
	needle := []byte(dummy)
	for _, pid := range descendants(root) {
		dir := filepath.Join("/proc", strconv.Itoa(pid))
		args, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil || len(args) == 0 {
			continue
		}
		name := filepath.Base(string(bytes.SplitN(args, []byte{0}, 2)[0]))
		if bytes.Contains(args, needle) {
			found = append(found, "the arguments of "+name)
		}
		exe, err := os.Readlink(filepath.Join(dir, "exe"))
		if err != nil || exe == binary {
			continue // the run's own program has it, because it was given to it
		}
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil {
			continue
		}
		looked = append(looked, pid)
		if bytes.Contains(env, needle) {
			found = append(found, "the environment of "+name)
		}
	}
	return found, looked
}

// descendants are the processes below one, without itself.
func descendants(root int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if parent, ok := parentOf(pid); ok {
			children[parent] = append(children[parent], pid)
		}
	}
	var out []int
	for next := []int{root}; len(next) > 0; {
		out = append(out, children[next[0]]...)
		next = append(next[1:], children[next[0]]...)
	}
	return out
}

// parentOf reads the parent from /proc/PID/stat, after the name in parentheses,
// which may hold anything.
func parentOf(pid int) (int, bool) {
	src, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(src[bytes.LastIndexByte(src, ')')+1:])
	if len(fields) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return parent, err == nil
}

var errBlind = errors.New("a planted secret in a process is not found, so finding none proves nothing")

// selfCheck starts a process that has the secret and requires that it is found.
func selfCheck(dummy string) (err error) {
	cmd := exec.Command("sleep", "30")
	cmd.Env = []string{"SBX_PLANTED=" + dummy}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("planting a secret in a process: %w", err)
	}
	defer func() {
		killed := cmd.Process.Kill()
		var exit *exec.ExitError
		if waited := cmd.Wait(); !errors.As(waited, &exit) {
			err = errors.Join(err, killed, waited)
		}
	}()
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); {
		if found, _ := lookAt(os.Getpid(), dummy, ""); len(found) > 0 {
			return nil
		}
	}
	return errBlind
}
