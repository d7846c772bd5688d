package tree

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"sort"
	"strings"
)

// LockName is the file name of a unit's lock when Unit.Lock is empty.
const LockName = ".sbxgen.lock"

// stateName is the folder beside a lock that holds base/ and lost/, and in the
// root also work/.
const stateName = ".sbxgen"

// Plan is what a tree should hold. A plan without units is an error, not a
// clean tree.
type Plan struct {
	Units []Unit
	// Validate, when set, is asked about every file before anything is written,
	// with its root-relative path and the whole new content. An error stops
	// Apply with the tree untouched. It is called from several goroutines.
	Validate func(path string, content []byte) error
}

// Unit is the territory of one lock file. All paths are slash-separated and
// relative to the root that Check and Apply are given.
type Unit struct {
	// Dir holds everything the unit writes; "." is the root itself.
	Dir string
	// Lock is the path of the lock file, LockName in Dir when empty. The folder
	// .sbxgen beside it keeps scaffolded bytes (base/) and saved edits (lost/).
	Lock string
	// Inputs names everything the output depends on, the generator's own
	// revision included, with the lower-case hex SHA-256 of each. While they
	// equal the recorded ones the output is taken to be the recorded one.
	Inputs map[string]string
	// OwnedPatterns say which files in Dir can only be the generator's, relative
	// to Dir: "**" every file, "sub/**" every file below sub, "zz_generated_*"
	// by base name in one folder, "**/zz_generated_*" by base name anywhere.
	OwnedPatterns []string
	// Needed are scaffold files, root-relative, that are made again when the user
	// deleted them, because what is generated cannot do without them.
	Needed []string
	// Render computes the output. It is called at most once per Check or Apply,
	// and not at all while the lock, inputs and contents agree. Renders of
	// different units run at the same time. An output without a single file is
	// refused: a broken generator must not look like "delete everything".
	Render func(ctx context.Context) (Output, error)
	// Retired says that the unit produces nothing any more: its owned files are
	// orphans and its lock goes with them. Render and Inputs are not used.
	Retired bool
}

// Output is what a unit renders to. Paths are root-relative and below Unit.Dir.
type Output struct {
	// Owned files are rewritten whenever their bytes differ.
	Owned map[string][]byte
	// Blocks are path -> block name -> text between the block's markers.
	Blocks map[string]map[string]string
	// Scaffold files are created once, never rewritten, and never recreated
	// when the user deleted them, but for those in Unit.Needed.
	Scaffold map[string][]byte
	// Appends are added to the end of a user's file, once per key.
	Appends map[string][]Append
}

// Append is one text to add to the end of a file that belongs to the user.
type Append struct {
	// Key names the text for ever; a recorded key is never emitted again, even
	// when the user has deleted the text.
	Key string
	// Text is set apart from what precedes it by one blank line.
	Text string
	// Present reports whether the file already has what Text would add. Nil
	// means it never has.
	Present func(content []byte) bool
}

// PlanError says why a plan or its output cannot be used. Nothing was written.
type PlanError struct {
	Unit   string // Unit.Dir, empty when the whole plan is meant
	Path   string // offending path, empty when there is none
	Reason string
	Err    error
}

// Error names unit, path and reason.
func (e *PlanError) Error() string {
	var b strings.Builder
	b.WriteString("plan")
	if e.Unit != "" {
		b.WriteString(" of " + e.Unit)
	}
	if e.Path != "" {
		b.WriteString(": " + e.Path)
	}
	b.WriteString(": " + e.Reason)
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *PlanError) Unwrap() error { return e.Err }

func (u Unit) lockPath() string {
	if u.Lock != "" {
		return u.Lock
	}
	return path.Join(u.Dir, LockName)
}

func (u Unit) stateDir() string { return path.Join(path.Dir(u.lockPath()), stateName) }

// rel makes a root-relative path of the unit relative to its Dir, abs undoes it.
func (u Unit) rel(p string) string {
	if u.Dir == "." {
		return p
	}
	return strings.TrimPrefix(p, u.Dir+"/")
}

func (u Unit) abs(p string) string { return path.Join(u.Dir, p) }

var keyPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`)

func (p Plan) check() error {
	if len(p.Units) == 0 {
		return &PlanError{Reason: "it has no units, so there is nothing to compare with"}
	}
	locks := map[string]bool{}
	for _, u := range p.Units {
		if err := u.check(); err != nil {
			return err
		}
		if key := fold(u.lockPath()); locks[key] {
			return &PlanError{Unit: u.Dir, Path: u.lockPath(), Reason: "two units share this lock"}
		} else {
			locks[key] = true
		}
	}
	return nil
}

func (u Unit) check() error {
	if u.Dir != "." {
		if err := checkPath(u.Dir); err != nil {
			return &PlanError{Unit: u.Dir, Reason: "bad unit directory", Err: err}
		}
	}
	if err := checkPath(u.lockPath()); err != nil {
		return &PlanError{Unit: u.Dir, Path: u.lockPath(), Reason: "bad lock path", Err: err}
	}
	for _, p := range u.OwnedPatterns {
		if _, err := parsePattern(p); err != nil {
			return &PlanError{Unit: u.Dir, Reason: "bad owned pattern " + p, Err: err}
		}
	}
	if u.Retired {
		return nil
	}
	if u.Render == nil {
		return &PlanError{Unit: u.Dir, Reason: "it has no Render and is not Retired"}
	}
	if len(u.Inputs) == 0 {
		return &PlanError{Unit: u.Dir, Reason: "it names no inputs, so it could never be out of date"}
	}
	for name, sum := range u.Inputs {
		if name == "" || !isSum(sum) {
			return &PlanError{Unit: u.Dir, Reason: fmt.Sprintf("input %q has no lower-case hex SHA-256", name)}
		}
	}
	return nil
}

// checkOutput refuses an output that is empty, leaves the unit's folder, or
// claims one path twice.
func (u Unit) checkOutput(o Output) error {
	paths := o.paths()
	if len(paths) == 0 {
		return &PlanError{Unit: u.Dir, Reason: "it rendered no file at all; a unit that ended must be Retired"}
	}
	for _, p := range paths {
		if err := u.checkOutputPath(p); err != nil {
			return err
		}
	}
	for p := range o.Owned {
		if _, ok := o.userFiles()[p]; ok {
			return &PlanError{Unit: u.Dir, Path: p, Reason: "planned both as an owned file and as a file of the user"}
		}
	}
	for p, blocks := range o.Blocks {
		for name, text := range blocks {
			if err := checkBlock(name, text); err != nil {
				return &PlanError{Unit: u.Dir, Path: p, Reason: "bad block " + name, Err: err}
			}
		}
	}
	for p, list := range o.Appends {
		seen := map[string]bool{}
		for _, a := range list {
			if !keyPattern.MatchString(a.Key) || seen[a.Key] || strings.TrimSpace(a.Text) == "" {
				return &PlanError{Unit: u.Dir, Path: p, Reason: fmt.Sprintf("append %q needs a plain, unique key and a text", a.Key)}
			}
			seen[a.Key] = true
		}
	}
	return nil
}

func (u Unit) checkOutputPath(p string) error {
	if err := checkPath(p); err != nil {
		return &PlanError{Unit: u.Dir, Path: p, Reason: "bad path", Err: err}
	}
	if u.Dir != "." && !strings.HasPrefix(p, u.Dir+"/") {
		return &PlanError{Unit: u.Dir, Path: p, Reason: "outside the unit's directory"}
	}
	for _, part := range strings.Split(p, "/") {
		if f := fold(part); f == fold(stateName) || f == fold(LockName) {
			return &PlanError{Unit: u.Dir, Path: p, Reason: "this name is kept for locks and saved bytes"}
		}
	}
	if fold(p) == fold(u.lockPath()) {
		return &PlanError{Unit: u.Dir, Path: p, Reason: "this is the unit's lock"}
	}
	return nil
}

// userFiles is the set of planned files that belong to the user.
func (o Output) userFiles() map[string]bool {
	set := map[string]bool{}
	for p := range o.Blocks {
		set[p] = true
	}
	for p := range o.Scaffold {
		set[p] = true
	}
	for p := range o.Appends {
		set[p] = true
	}
	return set
}

func (o Output) paths() []string {
	set := o.userFiles()
	for p := range o.Owned {
		set[p] = true
	}
	return sortedKeys(set)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
