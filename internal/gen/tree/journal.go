package tree

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"regexp"
	"runtime"
	"strconv"

	"golang.org/x/sync/errgroup"
)

// entry is one step of a journal: the bytes staged as Stage go to Path, or
// Path is removed when New is empty. Sums are hex SHA-256, empty for no file.
type entry struct {
	Path  string `json:"path"`
	Stage string `json:"stage,omitempty"`
	Old   string `json:"old,omitempty"`
	New   string `json:"new,omitempty"`
	// Floor is the folder that stays although it became empty.
	Floor string `json:"floor"`
	// Seal marks the unit's lock, which is written last and only when nothing
	// of the unit had to be left alone.
	Seal bool `json:"seal,omitempty"`

	data []byte
}

func newEntry(p, floor string, data []byte) entry {
	return entry{Path: p, Floor: floor, New: sumOf(data), data: data}
}

type journal struct {
	Format  int     `json:"format"`
	Entries []entry `json:"entries"`
}

// encode writes a digest line and the JSON, so that a torn journal is known.
func (j journal) encode() ([]byte, error) {
	body, err := json.Marshal(j)
	return []byte(sumOf(body) + "\n" + string(body) + "\n"), err
}

var stageName = regexp.MustCompile(`^[0-9]{1,9}$`)

// parseJournal reports false for anything Apply did not write completely.
func parseJournal(data []byte) (journal, bool) {
	sum, body, ok := bytes.Cut(data, []byte("\n"))
	body = bytes.TrimSuffix(body, []byte("\n"))
	var j journal
	if !ok || sumOf(body) != string(sum) || json.Unmarshal(body, &j) != nil || j.Format != lockFormat {
		return journal{}, false
	}
	for _, e := range j.Entries {
		if checkPath(e.Path) != nil || (e.New != "" && !stageName.MatchString(e.Stage)) || (e.Floor != "." && checkPath(e.Floor) != nil) {
			return journal{}, false
		}
	}
	return j, true
}

// writer changes a tree. All its methods need the process lock.
type writer struct {
	*disk
	hook    func(string)
	result  *Result
	touched map[string]bool // folders whose entries changed
}

func (w *writer) step(name string) {
	if w.hook != nil {
		w.hook(name)
	}
}

// commit makes entries durable, carries them out and forgets them.
func (w *writer) commit(entries []entry) error {
	if err := w.stage(entries); err != nil {
		return err
	}
	if err := w.writeJournal(entries); err != nil {
		return err
	}
	if err := w.replay(entries); err != nil {
		return err
	}
	return w.finish()
}

// stage writes all new bytes and syncs them in one batch: concurrent syncs
// share the file system's own commits.
func (w *writer) stage(entries []entry) error {
	if err := os.RemoveAll(w.abs(stageDir)); err != nil {
		return err
	}
	if err := os.Mkdir(w.abs(stageDir), 0o755); err != nil {
		return err
	}
	w.step("make stage")
	var files []string
	for i := range entries {
		e := &entries[i]
		if e.New == "" {
			continue
		}
		e.Stage = strconv.Itoa(i)
		name := w.abs(path.Join(stageDir, e.Stage))
		if err := w.stageFile(name, e); err != nil {
			return err
		}
		files = append(files, name)
		w.step("stage " + e.Path)
	}
	files = append(files, w.abs(stageDir))
	if err := syncAll(files); err != nil {
		return err
	}
	w.step("sync stage")
	return nil
}

// stageFile keeps the permissions of the file it will replace.
func (w *writer) stageFile(name string, e *entry) error {
	if err := os.WriteFile(name, e.data, 0o644); err != nil {
		return err
	}
	k, info, err := w.stat(e.Path)
	if err != nil || k != kindFile || info.Mode().Perm() == 0o644 {
		return err
	}
	return os.Chmod(name, info.Mode().Perm())
}

// writeJournal is the point of no return: its rename decides old or new.
func (w *writer) writeJournal(entries []entry) error {
	raw, err := journal{Format: lockFormat, Entries: entries}.encode()
	if err != nil {
		return err
	}
	temp := w.abs(journalPath + ".new")
	if err := os.WriteFile(temp, raw, 0o644); err != nil {
		return err
	}
	w.step("write journal")
	if err := syncAll([]string{temp}); err != nil {
		return err
	}
	w.step("sync journal")
	if err := os.Rename(temp, w.abs(journalPath)); err != nil {
		return err
	}
	w.step("rename journal")
	if err := syncAll([]string{w.abs(workDir), w.abs(stateName), w.root}); err != nil {
		return err
	}
	w.step("sync work")
	return nil
}

// finish makes the renames durable and removes the journal.
func (w *writer) finish() error {
	var dirs []string
	for _, dir := range sortedKeys(w.touched) {
		if k, _, err := w.stat(dir); err != nil {
			return err
		} else if k == kindDir { // it may have become empty and gone
			dirs = append(dirs, w.abs(dir))
		}
	}
	if err := syncAll(dirs); err != nil {
		return err
	}
	w.step("sync folders")
	if err := os.Remove(w.abs(journalPath)); err != nil {
		return err
	}
	w.step("remove journal")
	if err := syncAll([]string{w.abs(workDir)}); err != nil {
		return err
	}
	w.step("sync end")
	if err := os.RemoveAll(w.abs(stageDir)); err != nil {
		return err
	}
	w.step("remove stage")
	return nil
}

// recover completes a run that got as far as its journal and throws away what
// did not.
func (w *writer) recover() error {
	if err := w.safe(stageDir + "/0"); err != nil {
		return err
	}
	raw, k, err := w.read(journalPath)
	if err != nil {
		return err
	}
	if k == kindDir {
		return &UnsafePathError{Path: journalPath, Reason: "a folder where the journal belongs"}
	}
	if k == kindFile {
		j, ok := parseJournal(raw)
		if ok {
			if ok, err = w.stagesIntact(j); err != nil {
				return err
			}
		}
		if ok {
			if err := w.replay(j.Entries); err != nil {
				return fmt.Errorf("complete an interrupted run: %w", err)
			}
			w.result.Recovered = true
			return w.finish()
		}
		if err := os.Remove(w.abs(journalPath)); err != nil {
			return err
		}
		w.step("discard journal")
		w.result.Discarded = true
	}
	for _, p := range []string{stageDir, journalPath + ".new"} {
		if _, err := os.Lstat(w.abs(p)); absent(err) {
			continue
		} else if err != nil {
			return err
		}
		if err := os.RemoveAll(w.abs(p)); err != nil {
			return err
		}
		w.result.Discarded = true
	}
	return nil
}

// stagesIntact compares the staged bytes that are still there with the journal.
func (w *writer) stagesIntact(j journal) (bool, error) {
	var h hasher
	for _, e := range j.Entries {
		if e.New == "" {
			continue
		}
		sum, err := h.file(w.disk, path.Join(stageDir, e.Stage))
		if err != nil || (sum != "" && sum != e.New) {
			return false, err
		}
	}
	return true, nil
}

// syncAll flushes files and folders, many at a time.
func syncAll(names []string) error {
	var g errgroup.Group
	g.SetLimit(32)
	for _, name := range names {
		g.Go(func() error { return syncOne(name) })
	}
	return g.Wait()
}

func syncOne(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	flag := os.O_RDWR
	if info.IsDir() {
		if runtime.GOOS == "windows" { // has no such operation
			return nil
		}
		flag = os.O_RDONLY
	} else if info.Mode().Perm()&0o200 == 0 {
		flag = os.O_RDONLY
	}
	f, err := os.OpenFile(name, flag, 0)
	if err != nil {
		return err
	}
	err = f.Sync()
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// makeDirs makes the folder dir and remembers which folders changed.
func (w *writer) makeDirs(dir string) error {
	if dir == "." {
		return nil
	}
	err := os.Mkdir(w.abs(dir), 0o755)
	if absent(err) {
		if err := w.makeDirs(path.Dir(dir)); err != nil {
			return err
		}
		err = os.Mkdir(w.abs(dir), 0o755)
	}
	switch {
	case err == nil:
		w.touched[path.Dir(dir)], w.touched[dir] = true, true
		w.step("make folder " + dir)
		return nil
	case os.IsExist(err):
		return nil
	}
	return err
}

// dropEmpty removes folders that a removal left empty, up to the floor.
func (w *writer) dropEmpty(dir, floor string) error {
	for ; dir != floor && dir != "."; dir = path.Dir(dir) {
		entries, err := os.ReadDir(w.abs(dir))
		if absent(err) {
			continue
		}
		if err != nil || len(entries) > 0 {
			return err
		}
		if err := os.Remove(w.abs(dir)); err != nil && !absent(err) {
			return err
		}
		w.touched[path.Dir(dir)] = true
		w.step("remove folder " + dir)
	}
	return nil
}
