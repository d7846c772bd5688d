package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/agentworkforce/sbx/ledger"
)

// Names of the files of a run's folder.
const (
	ReportName    = "conformance.json"
	BenchmarkName = "benchmark.json"
	PlotName      = "benchmark.svg"
	StatementName = "statement.json"
	EnvelopeName  = "statement.dsse.json"
	ledgerFolder  = "ledger"
)

// LedgerName is the file of a ledger by its run.
func LedgerName(run string) string { return ledgerFolder + "/" + run + ".jsonl" }

// Limits of a folder; what is larger is refused unread.
const (
	maxFile  = 16 << 20
	maxFiles = 2000
)

// Bundle is the folder of a run as bytes.
type Bundle struct {
	// Provider and Run are the names of the folder's parent and of the folder.
	Provider string
	Run      string
	// Files has every file by its slash path from the folder.
	Files map[string][]byte
	// refused are entries that were not read, and why.
	refused map[string]string
}

// Read reads a run's folder, such as evidence/docker/20261129T142516Z-0123456789ab.
// What is no regular file, or too large, is not read and becomes a finding of
// Verify. The error is fs.ErrNotExist for a folder that is not there, or fsys's.
func Read(fsys fs.FS, dir string) (*Bundle, error) {
	b := &Bundle{Provider: path.Base(path.Dir(dir)), Run: path.Base(dir), Files: map[string][]byte{}, refused: map[string]string{}}
	err := fs.WalkDir(fsys, dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel := strings.TrimPrefix(name, dir+"/")
		if rel == name {
			return fmt.Errorf("evidence: %s: %w", dir, errNoFolder)
		}
		if len(b.Files)+len(b.refused) >= maxFiles {
			return fmt.Errorf("evidence: %s: %w", dir, errTooMany)
		}
		return b.read(fsys, name, rel, d)
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

var (
	errNoFolder = errors.New("is no folder")
	errTooMany  = fmt.Errorf("has more than %d files", maxFiles)
)

func (b *Bundle) read(fsys fs.FS, name, rel string, d fs.DirEntry) error {
	info, err := d.Info()
	switch {
	case err != nil:
		return err
	case !d.Type().IsRegular():
		b.refused[rel] = "is no regular file"
		return nil
	case info.Size() > maxFile:
		b.refused[rel] = fmt.Sprintf("is larger than %d bytes", maxFile)
		return nil
	}
	b.Files[rel], err = fs.ReadFile(fsys, name)
	return err
}

// Whole reports whether every entry of the folder was read, so that Files is all
// there is to judge.
func (b *Bundle) Whole() bool { return len(b.refused) == 0 }

// names are the files in order.
func (b *Bundle) names() []string { return slices.Sorted(maps.Keys(b.Files)) }

// ledgers are the ledger files in order.
func (b *Bundle) ledgers() []string {
	var out []string
	for _, name := range b.names() {
		if strings.HasPrefix(name, ledgerFolder+"/") {
			out = append(out, name)
		}
	}
	return out
}

// known reports whether a file has a place in a run's folder.
func known(name string) bool {
	switch name {
	case ReportName, BenchmarkName, PlotName, StatementName, EnvelopeName:
		return true
	}
	run, ok := strings.CutSuffix(strings.TrimPrefix(name, ledgerFolder+"/"), ".jsonl")
	return ok && LedgerName(run) == name && ledger.ValidRun(run)
}

// covered reports whether the statement has to have a file as a subject.
func covered(name string) bool { return name != StatementName && name != EnvelopeName }

// subjects are the digests of all files that a statement covers.
func (b *Bundle) subjects() []Subject {
	out := []Subject{}
	for _, name := range b.names() {
		if covered(name) {
			out = append(out, Subject{Name: name, Digest: Digest{SHA256: SHA256(b.Files[name])}})
		}
	}
	return out
}

// Statement decodes the bundle's statement.
func (b *Bundle) Statement() (*Statement, error) {
	src, ok := b.Files[StatementName]
	if !ok {
		return nil, fmt.Errorf("evidence: %s: %w", StatementName, fs.ErrNotExist)
	}
	return DecodeStatement(src)
}
