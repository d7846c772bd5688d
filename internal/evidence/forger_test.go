package evidence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// forger makes single edits in the folder of genuine signed runs. It has no key.
type forger struct {
	r     *rand.Rand
	other *Bundle // of another genuine run, signed with the same key
}

// edit returns a changed copy and what was done. What changes nothing is tried
// again with another edit.
func (f *forger) edit(b *Bundle) (*Bundle, string) {
	for {
		c := b.clone()
		what := f.once(c)
		if what != "" && !maps.EqualFunc(c.Files, b.Files, bytes.Equal) {
			return c, what
		}
	}
}

func (f *forger) once(b *Bundle) string {
	names := b.names()
	name := names[f.r.IntN(len(names))]
	switch f.r.IntN(8) {
	case 0:
		return f.file(b, name)
	case 1:
		other := names[f.r.IntN(len(names))]
		b.Files[name], b.Files[other] = b.Files[other], b.Files[name]
		return "swap " + name + " and " + other
	case 2:
		content, ok := f.other.Files[name]
		if !ok {
			return ""
		}
		b.Files[name] = content
		return "take " + name + " from another run"
	case 3:
		return f.date(b, name)
	default:
		return f.field(b, name)
	}
}

// file deletes, adds, cuts, or changes bytes.
func (f *forger) file(b *Bundle, name string) string {
	content := slices.Clone(b.Files[name])
	if len(content) == 0 {
		return ""
	}
	at := f.r.IntN(len(content))
	switch f.r.IntN(6) {
	case 0:
		delete(b.Files, name)
		return "delete " + name
	case 1:
		b.Files[fmt.Sprintf("extra-%d.json", f.r.IntN(9))] = content
		return "copy " + name
	case 2:
		b.Files[name] = content[:at]
		return fmt.Sprintf("cut %s at %d", name, at)
	case 3:
		content[at] ^= 1 << f.r.IntN(8)
		b.Files[name] = content
		return fmt.Sprintf("flip a bit of %s at %d", name, at)
	case 4:
		b.Files[name] = slices.Insert(content, at, ' ')
		return fmt.Sprintf("a space in %s at %d", name, at)
	default:
		lines := bytes.SplitAfter(content, []byte{'\n'})
		i, j := f.r.IntN(len(lines)), f.r.IntN(len(lines))
		lines[i], lines[j] = lines[j], lines[i]
		b.Files[name] = bytes.Join(lines, nil)
		return fmt.Sprintf("swap lines %d and %d of %s", i+1, j+1, name)
	}
}

// date moves one time.
func (f *forger) date(b *Bundle, name string) string {
	text := string(b.Files[name])
	var found []string
	for _, word := range strings.Split(text, `"`) {
		if _, err := time.Parse(time.RFC3339Nano, word); err == nil {
			found = append(found, word)
		}
	}
	if len(found) == 0 {
		return ""
	}
	old := found[f.r.IntN(len(found))]
	at, err := time.Parse(time.RFC3339Nano, old)
	if err != nil {
		return ""
	}
	moved := at.Add(time.Duration(f.r.IntN(200)-100) * 12 * time.Hour).Format(time.RFC3339Nano)
	b.Files[name] = []byte(strings.Replace(text, old, moved, 1))
	return "move " + old + " of " + name + " to " + moved
}

// field changes one value of a JSON file, or one line of a ledger, and writes the
// file as the tool would.
func (f *forger) field(b *Bundle, name string) string {
	src := b.Files[name]
	start, stop := 0, len(src)
	if strings.HasSuffix(name, ".jsonl") {
		lines := bytes.SplitAfter(src, []byte{'\n'})
		i := f.r.IntN(len(lines))
		start = len(bytes.Join(lines[:i], nil))
		stop = start + len(lines[i])
	}
	var v any
	if err := json.Unmarshal(src[start:stop], &v); err != nil {
		return ""
	}
	path, v := f.value(v, "")
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if !strings.HasSuffix(name, ".jsonl") {
		enc.SetIndent("", "  ")
	}
	if err := enc.Encode(v); err != nil {
		return ""
	}
	b.Files[name] = slices.Concat(src[:start], out.Bytes(), src[stop:])
	return "change " + name + path
}

func (f *forger) value(v any, path string) (string, any) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return path, map[string]any{"x": 1}
		}
		keys := slices.Sorted(maps.Keys(v))
		key := keys[f.r.IntN(len(keys))]
		if f.r.IntN(10) == 0 {
			delete(v, key)
			return path + " without " + key, v
		}
		path, v[key] = f.value(v[key], path+"/"+key)
		return path, v
	case []any:
		if len(v) == 0 || f.r.IntN(10) == 0 {
			return path + " longer", append(v, v...)
		}
		i := f.r.IntN(len(v))
		if f.r.IntN(10) == 0 {
			return fmt.Sprintf("%s without %d", path, i), slices.Delete(v, i, i+1)
		}
		path, v[i] = f.value(v[i], fmt.Sprintf("%s/%d", path, i))
		return path, v
	case string:
		words := []string{"passed", "failed", "live", "unknown", "", v + "x", "0000", strings.ToUpper(v)}
		return path, words[f.r.IntN(len(words))]
	case float64:
		return path, []float64{0, v + 1, v - 1, v * 2, 1}[f.r.IntN(5)]
	case bool:
		return path, !v
	}
	return path, "x"
}

// TestForger: whoever has no key changes nothing in the folder of a run that is
// linked by the digest of its statement.
func TestForger(t *testing.T) {
	t.Parallel()
	g := newGenuine(t)
	b := g.bundle(t)
	second := newGenuine(t)
	second.run.ID = "20261129T110000Z-0123456789ab"
	second.run.Report.Run = second.run.ID
	second.run.Plot = []byte("<svg></svg>\n")
	o := g.options()
	v, err := NewVerifier()
	require.NoError(t, err)
	require.Empty(t, v.Verify(b, o))
	other := second.bundle(t)
	require.Empty(t, v.Verify(other, o))
	for _, linked := range []bool{true, false} {
		if linked {
			o.Link = SHA256(b.Files[StatementName])
		} else {
			o.Link = ""
		}
		f := forger{r: rand.New(seeded(fmt.Sprint("forger", linked))), other: other}
		edits := 1000
		if !linked {
			edits = 200 // the link is one of many guards
		}
		for i := range edits {
			forged, what := f.edit(b)
			require.NotEmpty(t, v.Verify(forged, o), "edit %d was accepted: %s", i, what)
		}
	}
}

// TestKeyHolderWhoRunsNothing states the limit of the design as a fact: a bundle
// made from nothing by who holds the key is accepted. genuineReport and its
// fellows ran nothing either.
func TestKeyHolderWhoRunsNothing(t *testing.T) {
	g := newGenuine(t)
	require.Empty(t, verify(t, g.bundle(t), g.options()))
	stranger := newGenuine(t)
	var err error
	stranger.key, err = NewPrivateKey(seeded("stranger"))
	require.NoError(t, err)
	require.Equal(t, []Kind{KindUntrustedKey}, kinds(verify(t, stranger.bundle(t), g.options())), "the same without the key")
	none := g.bundle(t)
	delete(none.Files, EnvelopeName)
	require.Equal(t, []Kind{KindUnsigned}, kinds(verify(t, none, g.options())))
}
