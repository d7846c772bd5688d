package local

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// countMarked counts the processes, this one apart, that carry mark ("NAME=value")
// in the environment they were started with.
func countMarked(mark string) (int, error) { return eachMarked(mark, func(int) error { return nil }) }

// killMarked ends them all and returns how many it saw at most at once. A look
// that finds nothing counts when no process was made meanwhile on the whole
// machine, or when the look before it found nothing either: a process may fork
// and end while it is looked for. What is still there after limit is an error.
func killMarked(mark string, limit time.Duration) (int, error) {
	total, empty := 0, 0
	end := time.Now().Add(limit)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		newest := newestPID()
		n, err := eachMarked(mark, func(pid int) error { return killPID(pid, mark) })
		if err != nil {
			return total, err
		}
		total = max(total, n)
		if n > 0 {
			empty = 0
		} else if empty++; empty == 2 || newest != "" && newest == newestPID() {
			return total, nil
		}
		if time.Now().After(end) {
			return total, fmt.Errorf("%d processes are still there after %s", n, limit)
		}
		if n > 0 {
			time.Sleep(pause) // the kernel tells nobody but a parent when a process has ended
		}
	}
}

// newestPID is the number given to a process last, "" when that is not known.
func newestPID() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(text))
	return fields[max(len(fields)-1, 0)]
}

func eachMarked(mark string, do func(pid int) error) (int, error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return 0, err
	}
	names, err := proc.Readdirnames(-1)
	if err = errors.Join(err, proc.Close()); err != nil {
		return 0, err
	}
	n, self, buf := 0, os.Getpid(), make([]byte, 64<<10)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == self {
			continue
		}
		if !marked(pid, mark, &buf) {
			continue
		}
		n++
		if err := do(pid); err != nil {
			return n, err
		}
	}
	return n, nil
}

// marked is false for processes that ended, that are zombies, and that this user
// may not read: no sandbox of this user runs as another one. A process that is
// just becoming another program shows no environment for a moment; it is looked
// at again.
func marked(pid int, mark string, buf *[]byte) bool {
	for range 1000 {
		n, err := readEnviron(pid, buf)
		if err != nil {
			return false
		}
		if n > 0 {
			return holds((*buf)[:n], mark)
		}
		if !becoming(pid) {
			return false
		}
		time.Sleep(20 * time.Microsecond)
	}
	return false
}

// becoming reports whether a process without an environment may get one: it runs
// a program, unlike zombies and the kernel's own, and where its environment will
// be is not settled, or it is settled now and not empty.
func becoming(pid int) bool {
	dir := "/proc/" + strconv.Itoa(pid)
	if _, err := os.Readlink(dir + "/exe"); err != nil {
		return false
	}
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	fields := strings.Fields(string(rest)) // from field 3, the state, on
	const envStart, envEnd = 50 - 3, 51 - 3
	if len(fields) <= envEnd || fields[0] == "Z" || fields[0] == "X" {
		return false
	}
	return fields[envEnd] == "0" || fields[envStart] != fields[envEnd]
}

func holds(env []byte, mark string) bool {
	for len(env) > 0 {
		i := bytes.Index(env, []byte(mark))
		if i < 0 {
			return false
		}
		end := i + len(mark)
		if (i == 0 || env[i-1] == 0) && (end == len(env) || env[end] == 0) {
			return true
		}
		env = env[end:]
	}
	return false
}

// readEnviron reads the whole environment in one call, which the kernel answers
// from one moment.
func readEnviron(pid int, buf *[]byte) (int, error) {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/environ", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	for {
		n, err := unix.Pread(fd, *buf, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err == nil && n == len(*buf) {
			*buf = make([]byte, 2*len(*buf))
			continue
		}
		return n, errors.Join(err, unix.Close(fd))
	}
}

// killPID ends the process through a handle, so that a process that took over
// the number in between is not hit.
func killPID(pid int, mark string) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) { // kernels before 5.3, strict seccomp filters
		return ignoreGone(unix.Kill(pid, unix.SIGKILL))
	}
	if err != nil {
		return err
	}
	buf := make([]byte, 64<<10)
	if marked(pid, mark, &buf) {
		err = ignoreGone(unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0))
	}
	return errors.Join(err, unix.Close(fd))
}

func ignoreGone(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

// awaitExit returns when the child has ended, leaving it a zombie: its number,
// and that of its group, stay taken until it is reaped.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return // ended, or not to be waited for: Wait says which
		}
	}
}

// mountsBelow counts the mounts inside dir that this process sees.
func mountsBelow(dir string) (int, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	return countMounts(string(text), dir), err
}

func countMounts(mountinfo, dir string) int {
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	n := 0
	for line := range strings.Lines(mountinfo) {
		fields := strings.Fields(line)
		if len(fields) > 4 && strings.HasPrefix(unescape.Replace(fields[4]), dir+"/") {
			n++
		}
	}
	return n
}

// clearFlags takes away the flags that keep even root from removing a file.
func clearFlags(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil // no permission to look: chmod comes next, and removal says what is wrong
	}
	const fixed = 0x10 | 0x20 // FS_IMMUTABLE_FL | FS_APPEND_FL of linux/fs.h
	flags, err := unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS)
	if err == nil && flags&fixed != 0 {
		return errors.Join(unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, int(flags&^fixed)), unix.Close(fd))
	}
	return unix.Close(fd) // a file system without flags has none to clear
}
