package tree

import (
	"bytes"
	"strconv"
)

// parseOwnSpelling reads a lock that is byte for byte what encode writes, which
// nearly every lock is, at a tenth of the cost of reading JSON and writing it
// again. Anything else, however slight the difference, is not ok and left to
// parseLock's longer way.
func parseOwnSpelling(data []byte) (l lock, ok bool) {
	rest, ok := bytes.CutPrefix(data, []byte("{\n  \"format\": "+strconv.Itoa(lockFormat)))
	if !ok {
		return l, false
	}
	l.Format = lockFormat
	for _, s := range []struct {
		name    string
		section *map[string]string
	}{{"inputs", &l.Inputs}, {"owned", &l.Owned}, {"blocks", &l.Blocks}, {"scaffold", &l.Scaffold}, {"appended", &l.Appended}} {
		body, found := bytes.CutPrefix(rest, []byte(",\n  \""+s.name+"\": {\n"))
		if !found {
			continue
		}
		if *s.section, rest, ok = parseEntries(s.name, body); !ok {
			return lock{}, false
		}
	}
	return l, string(rest) == "\n}\n"
}

// parseEntries reads the entries of a section, in order, and its closing brace.
func parseEntries(section string, body []byte) (entries map[string]string, rest []byte, ok bool) {
	entries = make(map[string]string, bytes.Count(body, []byte{'\n'}))
	last := ""
	for {
		line, more, found := bytes.Cut(body, []byte{'\n'})
		if !found {
			return nil, nil, false
		}
		key, sum, comma, ok := parseEntry(line)
		if !ok || key <= last || !validEntry(section, key, sum) {
			return nil, nil, false
		}
		entries[key], last, body = sum, key, more
		if !comma {
			rest, ok = bytes.CutPrefix(body, []byte("  }"))
			return entries, rest, ok
		}
	}
}

// parseEntry reads `    "key": "sum",`, of which the comma may be missing. A key
// that JSON writes with an escape is not ok.
func parseEntry(line []byte) (key, sum string, comma, ok bool) {
	line, comma = bytes.CutSuffix(line, []byte{','})
	line, ok = bytes.CutPrefix(line, []byte(`    "`))
	if !ok {
		return "", "", false, false
	}
	line, ok = bytes.CutSuffix(line, []byte{'"'})
	const sumLength = 64
	split := len(line) - sumLength - len(`": "`)
	if !ok || split < 1 || string(line[split:split+len(`": "`)]) != `": "` {
		return "", "", false, false
	}
	for _, c := range line[:split] {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return "", "", false, false
		}
	}
	return string(line[:split]), string(line[split+len(`": "`):]), comma, true
}
