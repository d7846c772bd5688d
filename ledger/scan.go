package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// RunInfo is one ledger file as Scan found it.
type RunInfo struct {
	Owner, Run, Path string
	Liveness         Liveness
	Host, Boot       string    // of the run's first record; "" when there is none
	Started          time.Time // zero when there is no first record
	Err              error     // why Liveness is unknown or the first record unreadable
}

// Scan lists the runs of every owner, by owner and then by time. Runs that start or
// end meanwhile may be listed or not; none is disturbed. A missing directory is an
// empty list; a run that cannot be judged has Err set.
func Scan(ctx context.Context, dirs Dirs) ([]RunInfo, error) {
	entries, err := readDir(dirs.Path("ledger"))
	if err != nil {
		return nil, err
	}
	var runs []RunInfo
	for _, entry := range entries {
		if !entry.IsDir() || !ValidOwner(entry.Name()) {
			continue
		}
		of, err := ScanOwner(ctx, dirs, entry.Name())
		if err != nil {
			return nil, err
		}
		runs = append(runs, of...)
	}
	return runs, nil
}

// ScanOwner is Scan of one owner.
func ScanOwner(ctx context.Context, dirs Dirs, owner string) ([]RunInfo, error) {
	if !ValidOwner(owner) {
		return nil, &InvalidError{Field: "owner", Reason: ownerRule}
	}
	entries, err := readDir(dirs.OwnerDir(owner))
	if err != nil {
		return nil, err
	}
	var runs []RunInfo
	for _, entry := range entries {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("ledger: scan: %w", err)
		}
		run, ok := strings.CutSuffix(entry.Name(), runExt)
		if ok && ValidRun(run) {
			runs = append(runs, inspect(dirs, owner, run))
		}
	}
	return runs, nil
}

// inspect reads before it probes: the lock of a file without a first record is
// never touched.
func inspect(dirs Dirs, owner, run string) RunInfo {
	info := RunInfo{Owner: owner, Run: run, Path: dirs.RunFile(owner, run), Liveness: LivenessUnknown}
	first, err := readFirst(info.Path)
	var corrupt *CorruptError
	switch {
	case errors.Is(err, ErrNoRun):
		info.Liveness = Empty
		return info
	case err != nil && !errors.As(err, &corrupt):
		info.Err = err
		return info
	}
	info.Host, info.Boot, info.Started = first.Host, first.Boot, first.At
	var probeErr error
	info.Liveness, probeErr = probe(info.Path)
	info.Err = errors.Join(err, probeErr)
	return info
}

func readDir(dir string) ([]os.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	return entries, nil
}

// Located is an entry and the run whose ledger holds it.
type Located struct {
	Run, Path string
	Entry     *Entry
}

// Find returns what the ledgers of an owner say about the resource with this ID, in
// the order of the runs: one entry per run that made, adopted or handled it.
// It takes no lock. A file that cannot be read to its end is an error beside what
// was found in the others: the answer may then lack something. An empty scope is
// every one.
func Find(ctx context.Context, dirs Dirs, owner, provider, scope, id string) ([]Located, error) {
	if !ValidOwner(owner) {
		return nil, &InvalidError{Field: "owner", Reason: ownerRule}
	}
	entries, err := readDir(dirs.OwnerDir(owner))
	if err != nil {
		return nil, err
	}
	var found []Located
	var errs []error
	for _, entry := range entries {
		if ctx.Err() != nil {
			return found, errors.Join(append(errs, fmt.Errorf("ledger: find: %w", ctx.Err()))...)
		}
		run, ok := strings.CutSuffix(entry.Name(), runExt)
		if !ok || !ValidRun(run) {
			continue
		}
		path := dirs.RunFile(owner, run)
		records, err := readMentioning(path, id)
		if err != nil && !errors.Is(err, ErrNoRun) {
			errs = append(errs, err)
		}
		for _, e := range Fold(records).Entries {
			same := e.ID == id || slices.Contains(e.OtherIDs, id)
			if same && e.Provider == provider && (scope == "" || e.Scope == scope) {
				found = append(found, Located{Run: run, Path: path, Entry: e})
			}
		}
	}
	return found, errors.Join(errs...)
}

// readMentioning reads a file only when the ID stands in it; most files of an owner
// have nothing to do with it.
func readMentioning(path, id string) ([]Record, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	quoted, err := quote(id)
	if err != nil {
		return nil, err
	}
	if !bytes.Contains(raw, quoted) {
		return nil, nil
	}
	log, err := Parse(bytes.NewReader(raw))
	var corrupt *CorruptError
	if errors.As(err, &corrupt) {
		corrupt.Path = path
	}
	return log.Records, err
}

// quote spells s as encode does.
func quote(s string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
