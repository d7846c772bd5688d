package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"time"
)

// watch runs once, and again whenever a file below the provider's folder has
// changed, until it is interrupted. Findings of a run do not end it.
func (su *suite) watch(ctx context.Context, s streams, run func(context.Context) error) error {
	for {
		before, err := su.stamps()
		if err != nil {
			return err
		}
		if err := run(ctx); err != nil && !errors.As(err, &findingsError{}) {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
		fmt.Fprintf(s.err, "watching %s; interrupt to end\n", su.manifest.Dir)
		changed, err := su.changed(ctx, before)
		if err != nil || !changed {
			return err
		}
	}
}

// changed waits until a file is another one than before; false when ctx ended.
func (su *suite) changed(ctx context.Context, before map[string]time.Time) (bool, error) {
	t := time.NewTicker(300 * time.Millisecond)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return false, nil
		case <-t.C:
		}
		now, err := su.stamps()
		if err != nil {
			return false, err
		}
		if !maps.Equal(before, now) {
			return true, nil
		}
	}
}

// stamps are the modification times of the provider's files.
func (su *suite) stamps() (map[string]time.Time, error) {
	out := map[string]time.Time{}
	err := filepath.WalkDir(su.folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // an editor's temporary file
		}
		if err == nil {
			out[name] = info.ModTime()
		}
		return err
	})
	return out, err
}
