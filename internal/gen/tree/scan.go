package tree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"maps"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"
)

// unitState is one unit during one Check or Apply.
type unitState struct {
	Unit
	old      lock
	oldRaw   []byte // nil when there is no lock file
	oldState lockState
	fresh    bool // inputs and lock agree, so the lock stands for the output

	sums     map[string]string // listed owned files: root-relative path -> content hash, "" when not there
	present  map[string]bool   // files on disk that match the owned patterns
	deviates bool              // some listed content is not as recorded
	out      *Output           // nil when nothing had to be rendered
	next     lock
	actions  []action
}

// scan reads locks and hashes everything they list, in parallel.
func scan(ctx context.Context, d *disk, plan Plan) ([]*unitState, int, error) {
	units := make([]*unitState, len(plan.Units))
	err := chunks(ctx, len(units), func(from, to int) error {
		own := newDisk(d.root) // one is not for two goroutines
		for i := from; i < to; i++ {
			var err error
			if units[i], err = readUnit(own, plan.Units[i]); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, 0, err
	}
	type job struct {
		unit *unitState
		path string
		sum  string
	}
	var jobs []job
	for _, s := range units {
		for rel := range s.old.Owned {
			p := s.abs(rel)
			if err := d.safe(p); err != nil {
				return nil, 0, err
			}
			jobs = append(jobs, job{unit: s, path: p})
		}
	}
	err = chunks(ctx, len(jobs), func(from, to int) error {
		var h hasher
		for i := from; i < to; i++ {
			sum, err := h.file(d, jobs[i].path)
			if err != nil {
				return err
			}
			jobs[i].sum = sum
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, 0, err
	}
	hashed := len(jobs)
	for _, j := range jobs {
		j.unit.sums[j.path] = j.sum
		if j.sum != j.unit.old.Owned[j.unit.rel(j.path)] {
			j.unit.deviates = true
		}
	}
	err = chunks(ctx, len(units), func(from, to int) error {
		own := newDisk(d.root)
		for _, s := range units[from:to] {
			if err := s.scanBlocks(own); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	for _, s := range units {
		hashed += len(s.old.Blocks)
	}
	return units, hashed, err
}

func readUnit(d *disk, u Unit) (*unitState, error) {
	s := &unitState{Unit: u, sums: map[string]string{}, oldState: lockAbsent}
	if err := d.safe(u.lockPath()); err != nil {
		return nil, err
	}
	raw, k, err := d.read(u.lockPath())
	if err != nil {
		return nil, err
	}
	if k == kindDir {
		return nil, &UnsafePathError{Path: u.lockPath(), Reason: "a folder where the lock belongs"}
	}
	if raw != nil {
		s.oldRaw = raw
		if s.old, s.oldState, err = parseLock(u.lockPath(), raw); err != nil {
			return nil, err
		}
	}
	s.fresh = !u.Retired && s.oldState == lockIntact && maps.Equal(s.old.Inputs, u.Inputs)
	s.present, err = d.ownedOnDisk(u)
	return s, err
}

// scanBlocks compares recorded blocks of the user's files with the lock.
func (s *unitState) scanBlocks(d *disk) error {
	files := map[string]map[string]string{}
	for key, sum := range s.old.Blocks {
		rel, name, _ := strings.Cut(key, "#")
		if files[rel] == nil {
			files[rel] = map[string]string{}
		}
		files[rel][name] = sum
	}
	for _, p := range s.Needed {
		if err := d.safe(p); err != nil {
			return err
		}
		k, _, err := d.stat(p)
		if err != nil {
			return err
		}
		s.deviates = s.deviates || k == kindAbsent
	}
	for rel, want := range files {
		p := s.abs(rel)
		if err := d.safe(p); err != nil {
			return err
		}
		data, _, err := d.read(p)
		if err != nil {
			return err
		}
		found, err := parseBlocks(string(data))
		if err != nil {
			s.deviates = true // judged, with its line, after rendering
			continue
		}
		have := map[string]string{}
		for _, b := range found {
			have[b.name] = sumOf([]byte(b.text(string(data))))
		}
		for name, sum := range want {
			if have[name] != sum {
				s.deviates = true
			}
		}
	}
	return nil
}

// chunks calls f for consecutive ranges that cover 0..n, on every processor.
func chunks(ctx context.Context, n int, f func(from, to int) error) error {
	workers := runtime.GOMAXPROCS(0)
	size := max(1, (n+workers*4-1)/(workers*4))
	g, _ := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for from := 0; from < n; from += size {
		to := min(from+size, n)
		g.Go(func() error { return f(from, to) })
	}
	return g.Wait()
}

// hasher hashes files one after the other through one buffer.
type hasher struct{ buf []byte }

// file returns the hex SHA-256 of p, "" when there is no such file. A folder
// in its place counts as no file.
func (h *hasher) file(d *disk, p string) (string, error) {
	if sum, ok := h.quick(d.abs(p)); ok {
		return sum, nil
	}
	return h.slow(d, p)
}

// slow is file without the shortcut that some systems have.
func (h *hasher) slow(d *disk, p string) (string, error) {
	k, info, err := d.stat(p)
	if err != nil || k != kindFile {
		return "", err
	}
	f, err := os.Open(d.abs(p))
	if absent(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	sum, err := h.sum(f, info.Size())
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return sum, err
}

func (h *hasher) sum(f *os.File, size int64) (string, error) {
	const most = 4 << 20
	if size >= most {
		w := sha256.New()
		if _, err := io.Copy(w, f); err != nil {
			return "", err
		}
		return hex.EncodeToString(w.Sum(nil)), nil
	}
	if int64(len(h.buf)) <= size { // one byte more, so that a full read meets the end
		h.buf = make([]byte, max(2*size, 64<<10))
	}
	n, err := io.ReadFull(f, h.buf[:size+1])
	switch err {
	case io.ErrUnexpectedEOF, io.EOF:
		sum := sha256.Sum256(h.buf[:n])
		return hex.EncodeToString(sum[:]), nil
	case nil: // it grew meanwhile
		w := sha256.New()
		if _, err := w.Write(h.buf[:n]); err != nil {
			return "", err
		}
		if _, err := io.Copy(w, f); err != nil {
			return "", err
		}
		return hex.EncodeToString(w.Sum(nil)), nil
	}
	return "", err
}
