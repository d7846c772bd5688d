package gate

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/agentworkforce/sbx/schema"
)

// cacheMagic begins a cache file; it names the layout. The revision of the rules
// follows it.
const cacheMagic = "sbx-validate-1\n"

// maxCached bounds the entries of a cache file; the ones not used in this run
// go first.
const maxCached = 20_000

// cacheKey is the digest of a file's path, kind and bytes.
type cacheKey [sha256.Size]byte

func newCacheKey(t target, src []byte) cacheKey {
	h := sha256.New()
	h.Write([]byte(t.name))
	h.Write([]byte{0, byte(t.kind)})
	h.Write(src)
	return cacheKey(h.Sum(nil))
}

// cache remembers what files said by themselves. It is one file for each root:
// magic, revision of the rules, digest of the rest, then the entries. A file that
// is not exactly that, or of another revision, is as good as none. Safe for
// concurrent use.
type cache struct {
	file  string
	head  []byte
	mu    sync.Mutex
	old   map[cacheKey][]byte
	used  map[cacheKey]bool
	fresh map[cacheKey][]byte
}

// openCache reads the cache of a root. The error says why there is none.
func openCache(dir, root string) (*cache, error) {
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		dir = filepath.Join(base, "sbx", "validate")
	}
	revision, err := rulesRevision()
	if err != nil {
		return nil, err
	}
	name := sha256.Sum256([]byte(root))
	c := &cache{file: filepath.Join(dir, hex.EncodeToString(name[:16])), head: append([]byte(cacheMagic), revision...), used: map[cacheKey]bool{}, fresh: map[cacheKey][]byte{}}
	src, err := os.ReadFile(c.file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	c.old = decodeCache(src, c.head)
	return c, nil
}

// rulesRevision names the rules: the embedded data, and the program, whose code
// they are.
func rulesRevision() ([]byte, error) {
	h := sha256.New()
	fsys := schema.Files()
	names, err := fs.Glob(fsys, "*.json")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		src, err := fsys.ReadFile(name)
		if err != nil {
			return nil, err
		}
		h.Write(src)
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(exe)
	if err != nil {
		return nil, err
	}
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(info.Size())))
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(info.ModTime().UnixNano())))
	return h.Sum(nil), nil
}

// decodeCache returns the entries of a cache file that begins with head, and none
// of another or a damaged one.
func decodeCache(src, head []byte) map[cacheKey][]byte {
	rest, ok := bytes.CutPrefix(src, head)
	if !ok || len(rest) < sha256.Size {
		return nil
	}
	sum, body := rest[:sha256.Size], rest[sha256.Size:]
	if got := sha256.Sum256(body); !bytes.Equal(sum, got[:]) {
		return nil
	}
	out := make(map[cacheKey][]byte, len(body)/256)
	for len(body) >= sha256.Size+4 {
		key := cacheKey(body[:sha256.Size])
		n := int(binary.BigEndian.Uint32(body[sha256.Size:]))
		body = body[sha256.Size+4:]
		if n > len(body) {
			return nil
		}
		out[key], body = body[:n], body[n:]
	}
	return out
}

// get returns what is known of a file, or nil.
func (c *cache) get(key cacheKey) *examined {
	src, ok := c.old[key]
	if !ok {
		return nil
	}
	e, err := decodeEntry(src)
	if err != nil {
		return nil
	}
	c.mu.Lock()
	c.used[key] = true
	c.mu.Unlock()
	return e
}

// put remembers what a file says. What cannot be stored is examined again.
func (c *cache) put(key cacheKey, e *examined) {
	src, err := encodeEntry(e)
	if err != nil {
		return
	}
	c.mu.Lock()
	c.fresh[key] = src
	c.mu.Unlock()
}

// hasAccepted reports whether a key was put by putAccepted.
func (c *cache) hasAccepted(key cacheKey) bool {
	src, ok := c.old[key]
	if !ok || string(src) != acceptedMark {
		return false
	}
	c.mu.Lock()
	c.used[key] = true
	c.mu.Unlock()
	return true
}

// putAccepted remembers that what the key stands for was accepted.
func (c *cache) putAccepted(key cacheKey) {
	c.mu.Lock()
	c.fresh[key] = []byte(acceptedMark)
	c.mu.Unlock()
}

// acceptedMark is the entry of a key that stands for evidence.
const acceptedMark = "accepted"

// close writes the cache when something is new. It is replaced in one step, so
// that runs side by side lose at most each other's news.
func (c *cache) close() error {
	if len(c.fresh) == 0 {
		return nil
	}
	type row struct {
		key cacheKey
		src []byte
		age int
	}
	var rows []row
	for key, src := range c.fresh {
		rows = append(rows, row{key, src, 0})
	}
	for key, src := range c.old {
		if _, again := c.fresh[key]; !again {
			age := 2
			if c.used[key] {
				age = 1
			}
			rows = append(rows, row{key, src, age})
		}
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.age, b.age), bytes.Compare(a.key[:], b.key[:]))
	})
	var body []byte
	for _, r := range rows[:min(len(rows), maxCached)] {
		body = append(body, r.key[:]...)
		body = binary.BigEndian.AppendUint32(body, uint32(len(r.src)))
		body = append(body, r.src...)
	}
	sum := sha256.Sum256(body)
	return replaceFile(c.file, slices.Concat(c.head, sum[:], body))
}

func replaceFile(name string, src []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), "tmp-*")
	if err != nil {
		return err
	}
	_, err = f.Write(src)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
