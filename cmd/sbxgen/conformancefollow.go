package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

// follow reads JSON lines that another process appends to a file and hands them
// to take, one at a time, until stop is called; tick is called between them. stop
// reads what is left.
func follow[T any](file string, take func(T), tick func()) (stop func() error) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	var failed error
	wg.Go(func() {
		r := &lineReader{file: file}
		t := time.NewTicker(100 * time.Millisecond)
		defer t.Stop()
		for last := false; failed == nil; {
			failed = r.read(func(line []byte) error {
				var v T
				if err := json.Unmarshal(line, &v); err != nil {
					return err
				}
				take(v)
				return nil
			})
			if last {
				break
			}
			tick()
			select {
			case <-done:
				last = true
			case <-t.C:
			}
		}
		failed = errors.Join(failed, r.close())
	})
	return func() error {
		close(done)
		wg.Wait()
		return failed
	}
}

// lineReader reads the complete lines of a growing file.
type lineReader struct {
	file string
	f    *os.File
	rest []byte
}

func (r *lineReader) read(line func([]byte) error) error {
	if r.f == nil {
		f, err := os.Open(r.file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the process has not begun to write
		}
		if err != nil {
			return err
		}
		r.f = f
	}
	more, err := io.ReadAll(r.f)
	if err != nil {
		return err
	}
	r.rest = append(r.rest, more...)
	for {
		at := bytes.IndexByte(r.rest, '\n')
		if at < 0 {
			return nil
		}
		if err := line(r.rest[:at]); err != nil {
			return err
		}
		r.rest = r.rest[at+1:]
	}
}

func (r *lineReader) close() error {
	if r.f == nil {
		return nil
	}
	return r.f.Close()
}
