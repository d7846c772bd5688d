package tree

import (
	"errors"
	"os"
	"path"
	"syscall"
)

// replay carries out journal entries. Doing it twice, or from the middle, ends
// in the same tree; that is what makes a cut-off run completable.
//
// A path that is neither what it was when the run was planned nor what the run
// makes of it has been changed since, by a person or a branch switch. It is
// left alone, and so is the lock of its unit, so that the next plan decides.
func (w *writer) replay(entries []entry) error {
	skipped := map[string]bool{}
	for _, e := range entries {
		if e.Seal && skipped[e.Floor] {
			continue
		}
		if err := w.safe(e.Path); err != nil {
			return err
		}
		var h hasher
		have, err := h.file(w.disk, e.Path)
		if err != nil {
			return err
		}
		switch {
		case have != e.Old && have != e.New && !e.Seal:
			skipped[e.Floor] = true
			w.result.Skipped = append(w.result.Skipped, e.Path)
		case e.New == "":
			err = w.remove(e, have)
		case have != e.New:
			err = w.place(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) remove(e entry, have string) error {
	if have != "" {
		if err := os.Remove(w.abs(e.Path)); err != nil {
			return err
		}
		w.touched[path.Dir(e.Path)] = true
		w.step("remove " + e.Path)
	}
	return w.dropEmpty(path.Dir(e.Path), e.Floor)
}

// place renames a staged file to its place. When the stage is gone the rename
// has happened before.
func (w *writer) place(e entry) error {
	staged := path.Join(stageDir, e.Stage)
	if k, _, err := w.stat(staged); err != nil || k != kindFile {
		return err
	}
	if err := w.makeDirs(path.Dir(e.Path)); err != nil {
		return err
	}
	if err := w.rename(staged, e); err != nil {
		return err
	}
	w.touched[path.Dir(e.Path)] = true
	w.step("rename " + e.Path)
	return nil
}

// rename falls back to a copy beside the target when the target is on another
// file system than the stage.
func (w *writer) rename(staged string, e entry) error {
	err := os.Rename(w.abs(staged), w.abs(e.Path))
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	data, err := os.ReadFile(w.abs(staged))
	if err != nil {
		return err
	}
	info, err := os.Stat(w.abs(staged))
	if err != nil {
		return err
	}
	temp := w.abs(path.Join(path.Dir(e.Path), ".sbxgen-"+e.Stage+".tmp"))
	if err := os.WriteFile(temp, data, info.Mode().Perm()); err != nil {
		return err
	}
	if err := syncAll([]string{temp}); err != nil {
		return err
	}
	if err := os.Rename(temp, w.abs(e.Path)); err != nil {
		return err
	}
	return os.Remove(w.abs(staged))
}
