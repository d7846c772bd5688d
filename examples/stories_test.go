package examples

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStories(t *testing.T) {
	bin := programs(t)
	for name, test := range map[string]func(*testing.T, string, place){
		"stream": stream, "files": files, "forks": forks, "fanout": fanout, "fanout/error": fanoutError,
		"egress": egress, "attach": attach, "ensure": ensure,
	} {
		program, _, _ := strings.Cut(name, "/")
		t.Run(name, func(t *testing.T) {
			everywhere(t, func(t *testing.T, p place) { test(t, bin+program, p) })
		})
	}
	for name, test := range map[string]func(*testing.T, string, place){
		"stream": stream, "files": files, "forks": forks, "attach": attach, "ensure": ensure,
	} {
		t.Run(name+"/gvisor", func(t *testing.T) { test(t, bin+name, onEngine(t, "gvisor", "runsc")) })
	}
}

// It ends at all only because each line is there before the next is asked for.
func stream(t *testing.T, program string, p place) {
	r := p.run(t, program, p.id)
	require.Equal(t, result{out: "step 1\nstep 2\nstep 3\nexit code 3\n", err: "heard answer 1\nheard answer 2\nheard answer 3\n"}, r)
	p.nothingLeft(t)
}

func files(t *testing.T, program string, p place) {
	seeded := rand.NewChaCha8([32]byte{1})
	for size, mode := range map[int]os.FileMode{0: 0o600, 3<<20 + 1: 0o751} {
		from, to := filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "to")
		content := make([]byte, size)
		_, err := seeded.Read(content)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(from, content, 0o600))
		require.NoError(t, os.Chmod(from, mode))
		r := p.run(t, program, p.id, from, to)
		sum := sha256.Sum256(content)
		require.Equal(t, result{out: "the same on every side: " + hex.EncodeToString(sum[:]) + "\n"}, r)
		back, err := os.ReadFile(to)
		require.NoError(t, err)
		require.True(t, bytes.Equal(content, back), "%d bytes went, %d other ones came back", size, len(back))
		info, err := os.Stat(to)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode())
		p.nothingLeft(t)
	}
	r := p.run(t, program, p.id, filepath.Join(t.TempDir(), "missing"), filepath.Join(t.TempDir(), "to"))
	require.Equal(t, 1, r.code)
	require.Contains(t, r.err, "missing")
	p.nothingLeft(t)
}

func forks(t *testing.T, program string, p place) {
	r := p.run(t, program, p.id)
	require.Equal(t, 0, r.code, r.err)
	require.Empty(t, r.err)
	if p.id == "local" {
		require.Regexp(t, `^refused: local: CreateSnapshot \w+: unsupported \(snapshot: unsupported\): A folder is not captured; [^\n]*\n$`, r.out)
		require.Equal(t, 1, strings.Count(ledgers(t, p.state), `"event":"created"`), "the refusal has created something")
		p.nothingLeft(t)
		return
	}
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	want := []string{"snapshot: ready to go"}
	for n := range 10 {
		want = append(want, fmt.Sprintf("fork %d: ready to go", n+1))
	}
	require.Equal(t, want[0], lines[0])
	require.ElementsMatch(t, want, lines)
	p.nothingLeft(t)
}

func fanout(t *testing.T, program string, p place) {
	r := p.run(t, program, p.id)
	require.Equal(t, result{out: "sandboxes: 50\nsum: 42925\nleft: 0\n"}, r)
	text := ledgers(t, p.state)
	require.Equal(t, 50, strings.Count(text, `"event":"created"`))
	require.Equal(t, 50, strings.Count(text, `"event":"verified-gone"`))
	require.LessOrEqual(t, mostAtOnce(text), 8)
	p.nothingLeft(t)
}

// mostAtOnce is how many sandboxes there ever were together.
func mostAtOnce(ledger string) int {
	now, most := 0, 0
	for _, event := range regexp.MustCompile(`"event":"(created|verified-gone)"`).FindAllString(ledger, -1) {
		now++
		if strings.Contains(event, "gone") {
			now -= 2
		}
		most = max(most, now)
	}
	return most
}

func fanoutError(t *testing.T, program string, p place) {
	r := p.run(t, program, "-fail", "20", p.id)
	require.Equal(t, 1, r.code)
	require.Equal(t, "fanout: task 20 fails as told\n", r.err, "the first error, and not what it cancelled")
	said := regexp.MustCompile(`^sandboxes: (\d+)\nleft: 0\n$`).FindStringSubmatch(r.out)
	require.NotNil(t, said, r.out)
	made, err := strconv.Atoi(said[1])
	require.NoError(t, err)
	require.True(t, made >= 13 && made <= 28, "twenty were started with seven beside them, not %d", made)
	text := ledgers(t, p.state)
	require.Equal(t, strings.Count(text, `"event":"created"`), strings.Count(text, `"event":"verified-gone"`))
	p.nothingLeft(t)
}

func egress(t *testing.T, program string, p place) {
	r := p.run(t, program, p.id)
	require.Equal(t, result{out: "disposition: refuse-uncontained\nrefused: " + p.id + ": Create: unsupported: egress: " +
		"this provider enforces no policy, so the sandbox would reach everything; nothing was created\ncreated nothing: true\n"}, r)
	found, err := filepath.Glob(filepath.Join(p.state, "sbx", "ledger", "*", "*"))
	require.NoError(t, err)
	require.Empty(t, found, "something was going to be created")

	r = p.run(t, program, "-uncontained", p.id)
	require.Equal(t, result{out: "disposition: withhold\nwarning: " + p.id + " enforces no policy; this sandbox reaches everything\nit runs\n"}, r)
	p.nothingLeft(t)
}

func attach(t *testing.T, program string, p place) {
	kept := p.run(t, program, "keep", p.id)
	require.Equal(t, 0, kept.code, kept.err)
	require.Regexp(t, `^`+p.id+`:\w+\n$`, kept.out)
	ref := strings.TrimSpace(kept.out)

	// To another owner it is foreign: commands work, and it may not be destroyed.
	other := slices.Concat(p.env, []string{"SBX_OWNER=somebodyelse0000"})
	r := run(t, program, []string{"use", ref, "cat", "note"}, other...)
	require.Equal(t, 1, r.code)
	require.Equal(t, "left by the first process\nverified gone: false\n", r.out)
	require.Contains(t, r.err, "foreign")

	r = run(t, program, []string{"use", ref, "cat", "note"}, p.env...)
	require.Equal(t, result{out: "left by the first process\nverified gone: true\n"}, r)
	p.nothingLeft(t)
	r = run(t, program, []string{"use", ref, "true"}, p.env...)
	require.Equal(t, 1, r.code)
	require.Contains(t, r.err, "not_found")
}

func ensure(t *testing.T, program string, p place) {
	r := p.run(t, program, p.id)
	require.Equal(t, 0, r.code, r.err)
	said := regexp.MustCompile(`^(` + p.id + `:\w+)\n(` + p.id + `:\w+)\nthe same: true\nsandboxes: 1\n$`).FindStringSubmatch(r.out)
	require.NotNil(t, said, r.out)
	require.Equal(t, said[1], said[2])
	require.Equal(t, 1, strings.Count(ledgers(t, p.state), `"event":"created"`))
	p.nothingLeft(t)
}
