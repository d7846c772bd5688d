package tree

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// lockFormat is raised when the meaning of a lock changes.
const lockFormat = 1

// lock is the record of what one unit wrote. Paths are relative to the unit's
// folder; blocks and appends are keyed path#name. Values are hex SHA-256: of
// file content, of block text, of the bytes as scaffolded, of appended text.
//
// It is written as JSON with one sorted line per entry, so that two branches
// that add different files merge by themselves more often than not. It holds
// no version, date or machine path.
type lock struct {
	Format   int               `json:"format"`
	Inputs   map[string]string `json:"inputs,omitempty"`
	Owned    map[string]string `json:"owned,omitempty"`
	Blocks   map[string]string `json:"blocks,omitempty"`
	Scaffold map[string]string `json:"scaffold,omitempty"`
	Appended map[string]string `json:"appended,omitempty"`

	// also holds, for a lock with conflict markers, every further hash that
	// either side recorded, by section and key.
	also map[string][]string
}

// lockState says how far a lock can be believed.
type lockState int

const (
	lockIntact     lockState = iota
	lockAbsent               // there is none
	lockConflicted           // git conflict markers; both sides' entries were salvaged
	lockDamaged              // not what this program writes; nothing or little salvaged
)

// LockVersionError says that a lock was written by a newer program, which is
// no damage and is never repaired by overwriting it.
type LockVersionError struct {
	Path   string
	Format int
}

// Error names the path and the format.
func (e *LockVersionError) Error() string {
	return fmt.Sprintf("%s: lock format %d is newer than this program's %d", e.Path, e.Format, lockFormat)
}

func (l lock) encode() ([]byte, error) {
	l.Format = lockFormat
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(l)
	return b.Bytes(), err
}

func (l *lock) sections() map[string]*map[string]string {
	return map[string]*map[string]string{"inputs": &l.Inputs, "owned": &l.Owned, "blocks": &l.Blocks,
		"scaffold": &l.Scaffold, "appended": &l.Appended}
}

// knows reports whether the lock recorded this hash for an entry; with
// conflict markers either side counts.
func (l *lock) knows(section, key, sum string) bool {
	if (*l.sections()[section])[key] == sum {
		return sum != ""
	}
	return slices.Contains(l.also[section+" "+key], sum)
}

// parseLock reads a lock. It never fails on damage, which Apply repairs, only
// on a format that is newer than this program.
func parseLock(p string, data []byte) (lock, lockState, error) {
	if l, ok := parseOwnSpelling(data); ok {
		return l, lockIntact, nil
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	if conflicted(data) {
		return salvage(data), lockConflicted, nil
	}
	var format struct {
		Format int `json:"format"`
	}
	if json.Unmarshal(data, &format) == nil && format.Format > lockFormat {
		return lock{}, lockDamaged, &LockVersionError{Path: p, Format: format.Format}
	}
	l, state := parseAnySpelling(data)
	return l, state, nil
}

// parseAnySpelling reads a lock as JSON and compares it with what would be written.
func parseAnySpelling(data []byte) (lock, lockState) {
	var l lock
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if dec.Decode(&l) != nil || !l.valid() {
		return salvage(data), lockDamaged
	}
	if _, err := dec.Token(); err != io.EOF {
		return salvage(data), lockDamaged
	}
	// Anything but our own spelling (a doubled key after a careless merge, say)
	// was not written by us.
	if again, err := l.encode(); err != nil || !bytes.Equal(again, data) {
		return salvage(data), lockDamaged
	}
	return l, lockIntact
}

func (l *lock) valid() bool {
	if l.Format != lockFormat {
		return false
	}
	for name, section := range l.sections() {
		for key, sum := range *section {
			if !validEntry(name, key, sum) {
				return false
			}
		}
	}
	return true
}

// isSum reports a SHA-256 in lower-case hex.
func isSum(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) == 64
}

func validEntry(section, key, sum string) bool {
	if !isSum(sum) || key == "" {
		return false
	}
	switch section {
	case "owned", "scaffold":
		return checkPath(key) == nil
	case "blocks", "appended":
		p, name, ok := strings.Cut(key, "#")
		return ok && checkPath(p) == nil && keyPattern.MatchString(name)
	}
	return true
}

var (
	sectionLine = regexp.MustCompile(`^  "([a-z]+)": \{$`)
	entryLine   = regexp.MustCompile(`^    ("(?:[^"\\]|\\.)*"): "([0-9a-f]{64})",?$`)
)

// salvage takes the entries of every readable line, whichever side of a
// conflict it is on. The first hash of an entry goes to its section, further
// ones to also.
func salvage(data []byte) lock {
	l := lock{Format: lockFormat, also: map[string][]string{}}
	section := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if m := sectionLine.FindStringSubmatch(line); m != nil {
			section = m[1]
			continue
		}
		m := entryLine.FindStringSubmatch(line)
		target := l.sections()[section]
		if m == nil || target == nil {
			continue
		}
		var key string
		if json.Unmarshal([]byte(m[1]), &key) != nil || !validEntry(section, key, m[2]) {
			continue
		}
		if *target == nil {
			*target = map[string]string{}
		}
		if first, ok := (*target)[key]; !ok {
			(*target)[key] = m[2]
		} else if first != m[2] {
			l.also[section+" "+key] = append(l.also[section+" "+key], m[2])
		}
	}
	return l
}

// conflictLine is the first line with a marker of an unresolved merge, from 1.
func conflictLine(data []byte) int {
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if bytes.HasPrefix(line, []byte("<<<<<<< ")) || bytes.HasPrefix(line, []byte("=======")) || bytes.HasPrefix(line, []byte(">>>>>>> ")) {
			return n
		}
	}
	return 0
}

// conflicted reports whether data has the marker lines of an unresolved merge.
func conflicted(data []byte) bool {
	return hasLine(data, "<<<<<<<") && hasLine(data, ">>>>>>>")
}

// hasLine looks for a line that is the marker, alone or followed by a space.
func hasLine(data []byte, marker string) bool {
	for rest := data; ; {
		i := bytes.Index(rest, []byte(marker))
		if i < 0 {
			return false
		}
		start := i == 0 || rest[i-1] == '\n'
		rest = rest[i+len(marker):]
		if start && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\n' || rest[0] == '\r') {
			return true
		}
	}
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
