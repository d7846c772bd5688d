package local

import (
	"encoding/json"
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// bwrapStatus follows what bwrap says about a command on a pipe of its own:
// first the process that is 1 in the new namespace, at the end the exit code.
// Without a code the command never ran, or bwrap was killed.
type bwrapStatus struct {
	args *os.File
	r, w *os.File
	read chan struct{} // closed when bwrap says no more

	mu     sync.Mutex
	init   int // handle of the namespace's process 1, -1 when not known
	killed bool
	code   *int
}

func newBwrapStatus(args *os.File) (*bwrapStatus, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &bwrapStatus{args: args, r: r, w: w, read: make(chan struct{}), init: -1}, nil
}

// begin gives up the ends that belong to bwrap and, when it was started, reads.
func (s *bwrapStatus) begin(started bool) error {
	err := errors.Join(s.args.Close(), s.w.Close())
	if !started {
		close(s.read)
		return errors.Join(err, s.r.Close())
	}
	go s.follow()
	return err
}

func (s *bwrapStatus) follow() {
	defer close(s.read)
	for dec := json.NewDecoder(s.r); ; {
		var doc struct {
			ChildPID *int `json:"child-pid"`
			ExitCode *int `json:"exit-code"`
		}
		if err := dec.Decode(&doc); err != nil {
			return // the end, also when it comes early: then there is no exit code
		}
		s.mu.Lock()
		if doc.ChildPID != nil && s.init < 0 {
			// A process that ended already has no handle, and nothing to wait for.
			if fd, err := unix.PidfdOpen(*doc.ChildPID, 0); err == nil {
				s.init = fd
			}
		}
		if doc.ExitCode != nil {
			s.code = doc.ExitCode
		}
		if s.killed {
			s.signal()
		}
		s.mu.Unlock()
	}
}

// signal ends process 1, and the kernel everything else in its namespace. It is
// one of three ways to the same end (bwrap's own death and the search for marks
// are the others), so its failure decides nothing; gone looks at the result.
func (s *bwrapStatus) signal() {
	if s.init < 0 {
		return
	}
	if err := unix.PidfdSendSignal(s.init, unix.SIGKILL, nil, 0); err != nil {
		return
	}
}

func (s *bwrapStatus) killAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.killed = true
	s.signal()
}

// gone ends what is left in the namespace and reports whether it is empty: the
// kernel lets its process 1 end only after every other process in it.
func (s *bwrapStatus) gone(limit time.Duration) bool {
	select {
	case <-s.read:
	case <-time.After(limit):
		return false
	}
	s.killAll()
	s.mu.Lock()
	defer s.mu.Unlock()
	empty := s.init < 0 || awaitHandle(s.init, limit)
	err := s.r.Close()
	if s.init >= 0 {
		err = errors.Join(err, unix.Close(s.init))
		s.init = -1
	}
	return empty && err == nil
}

func awaitHandle(fd int, limit time.Duration) bool {
	for end := time.Now().Add(limit); ; {
		left := time.Until(end).Milliseconds()
		if left <= 0 {
			return false
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(left))
		if err != nil && !errors.Is(err, unix.EINTR) {
			return false
		}
		if n > 0 {
			return true
		}
	}
}

// exitCode is the command's, when it ran to its end.
func (s *bwrapStatus) exitCode() (int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.code == nil {
		return 0, false
	}
	return *s.code, true
}
