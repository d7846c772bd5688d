package main

import (
	"sync"
	"time"
)

// processWatch looks at the processes that a run starts, while it goes: their
// arguments, and their environments unless they are the run's own program again.
type processWatch struct {
	dummy  string
	binary string

	mu     sync.Mutex
	found  map[string]bool
	looked map[int]bool
	done   chan struct{}
	wg     sync.WaitGroup
}

// newProcessWatch makes sure that a watch finds a secret in a process that has it.
// Where processes cannot be looked at it looks at none.
func newProcessWatch(dummy, binary string) (*processWatch, error) {
	w := &processWatch{dummy: dummy, binary: binary, found: map[string]bool{}, looked: map[int]bool{}}
	return w, selfCheck(dummy)
}

// start watches the descendants of a process until stop.
func (w *processWatch) start(pid int) {
	done := make(chan struct{})
	w.done = done
	w.wg.Go(func() {
		t := time.NewTicker(25 * time.Millisecond)
		defer t.Stop()
		for {
			w.look(pid)
			select {
			case <-done:
				return
			case <-t.C:
			}
		}
	})
}

func (w *processWatch) stop() {
	if w.done == nil {
		return
	}
	close(w.done)
	w.done = nil
	w.wg.Wait()
}

func (w *processWatch) look(pid int) {
	found, looked := lookAt(pid, w.dummy, w.binary)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range found {
		w.found[f] = true
	}
	for _, p := range looked {
		w.looked[p] = true
	}
}

// result is where the secret was, and how many processes were looked at.
func (w *processWatch) result() ([]string, int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for f := range w.found {
		out = append(out, f)
	}
	return out, len(w.looked)
}
