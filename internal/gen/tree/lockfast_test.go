package tree

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The short way reads what the long way reads, and nothing that the long way
// does not take for intact.
func TestOwnSpelling(t *testing.T) {
	locks, err := filepath.Glob("../../../providers/*/" + LockName)
	require.NoError(t, err)
	locks = append(locks, "../../../generated/"+LockName)
	require.Greater(t, len(locks), 5)
	random := rand.New(rand.NewPCG(1, 2))
	taken := 0
	for _, name := range locks {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		fast, ok := parseOwnSpelling(data)
		require.True(t, ok, "%s is not read the short way", name)
		slow, state := parseAnySpelling(data)
		require.Equal(t, lockIntact, state)
		require.Equal(t, slow, fast)
		for range 400 {
			spoilt := spoil(random, data)
			if fast, ok := parseOwnSpelling(spoilt); ok {
				taken++
				slow, state := parseAnySpelling(spoilt)
				require.Equal(t, lockIntact, state, "%s", spoilt)
				require.Equal(t, slow, fast)
			}
		}
	}
	require.Positive(t, taken, "no change was one that a lock survives, such as another hash")
	for name, src := range map[string]string{
		"empty": "", "no sections": "{\n  \"format\": 1\n}\n", "newer": "{\n  \"format\": 2\n}\n",
		"an empty section": "{\n  \"format\": 1,\n  \"owned\": {\n  }\n}\n",
		"an escape":        "{\n  \"format\": 1,\n  \"inputs\": {\n    \"a\\\"\": \"" + strings.Repeat("a", 64) + "\"\n  }\n}\n",
		"a path outside":   "{\n  \"format\": 1,\n  \"owned\": {\n    \"../a\": \"" + strings.Repeat("a", 64) + "\"\n  }\n}\n",
		"text after it":    "{\n  \"format\": 1,\n  \"inputs\": {\n    \"a\": \"" + strings.Repeat("a", 64) + "\"\n  }\n}\n\n",
	} {
		_, ok := parseOwnSpelling([]byte(src))
		if ok {
			_, state := parseAnySpelling([]byte(src))
			require.Equal(t, lockIntact, state, name)
		}
		require.Equal(t, name == "no sections", ok, name)
	}
}

// spoil changes a few bytes or lines.
func spoil(random *rand.Rand, data []byte) []byte {
	out := append([]byte(nil), data...)
	switch random.IntN(4) {
	case 0:
		out[random.IntN(len(out))] = "0123456789abcdef\",{}: \n"[random.IntN(23)]
	case 1:
		lines := strings.SplitAfter(string(out), "\n")
		i, j := random.IntN(len(lines)), random.IntN(len(lines))
		lines[i], lines[j] = lines[j], lines[i]
		return []byte(strings.Join(lines, ""))
	case 2:
		lines := strings.SplitAfter(string(out), "\n")
		i := random.IntN(len(lines))
		return []byte(strings.Join(append(lines[:i:i], lines[i+1:]...), ""))
	case 3:
		at := random.IntN(len(out))
		return append(out[:at:at], out[min(len(out), at+1+random.IntN(3)):]...)
	}
	return out
}
