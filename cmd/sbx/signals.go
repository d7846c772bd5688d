package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// interruptError is why the context of a command ended: somebody asked for it.
type interruptError struct{ sig os.Signal }

func (e interruptError) Error() string { return "got the signal " + e.sig.String() }

// Is makes it a cancellation for everybody who looks for one.
func (e interruptError) Is(target error) bool { return target == context.Canceled }

// interrupted returns a context that the first SIGINT, SIGTERM or SIGHUP ends:
// the command inside is ended and what the verb owns is torn down. The second one
// ends this program at once and leaves the ledger to sbx reap. A closed pipe is no
// signal but an error of the write, so that a teardown is not skipped.
func interrupted(ctx context.Context, exits *exitHooks) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	// Not ignored: that would be inherited by every command of a local sandbox.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	got := make(chan os.Signal, 2)
	signal.Notify(got, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		cancel(interruptError{<-got})
		sig := <-got
		exits.run()
		os.Exit(signalExit(sig))
	}()
	return ctx, func() {
		signal.Stop(got)
		cancel(nil)
	}
}

func signalExit(sig os.Signal) int {
	if s, ok := sig.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return exitFailed
}

// interruption is the signal that ended ctx, if one did.
func interruption(ctx context.Context) (interruptError, bool) {
	return errors.AsType[interruptError](context.Cause(ctx))
}

// exitHooks are what has to be put right even when the program ends at once: a
// terminal that is in raw mode. The zero value holds nothing.
type exitHooks struct {
	mu    sync.Mutex
	hooks map[int]func()
	next  int
}

// add registers fn; the returned function takes it away and runs it, once.
func (e *exitHooks) add(fn func()) (done func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.hooks == nil {
		e.hooks = map[int]func(){}
	}
	id := e.next
	e.next++
	e.hooks[id] = fn
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if hook, ok := e.hooks[id]; ok {
			delete(e.hooks, id)
			hook()
		}
	}
}

func (e *exitHooks) run() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, hook := range e.hooks {
		delete(e.hooks, id)
		hook()
	}
}
