package wire_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
	"github.com/stretchr/testify/require"
)

func redactor(t testing.TB, values ...string) *wire.Redactor {
	t.Helper()
	var s []wire.NamedSecret
	for i, v := range values {
		s = append(s, wire.NamedSecret{Name: fmt.Sprintf("S%d", i), Value: port.NewSecret(v)})
	}
	r, err := wire.NewRedactor(s...)
	require.NoError(t, err)
	return r
}

// spellings writes a secret in every way that the redactor promises to know.
func spellings(t testing.TB, secret string) map[string]string {
	j, err := json.Marshal(map[string]string{"k": secret})
	require.NoError(t, err)
	jj, err := json.Marshal(string(j))
	require.NoError(t, err)
	out := map[string]string{
		"plain": secret, "query": url.QueryEscape(secret), "path": url.PathEscape(secret),
		"json": string(j), "json in json": string(jj), "slash": strings.ReplaceAll(string(j), "/", `\/`),
		"hex": hex.EncodeToString([]byte(secret)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"basic": base64.StdEncoding.EncodeToString([]byte("user:" + secret)),
	}
	for before := range 4 {
		for after := range 4 {
			b := []byte(strings.Repeat("u", before) + secret + strings.Repeat("!", after))
			out[fmt.Sprintf("std %d %d", before, after)] = base64.StdEncoding.EncodeToString(b)
			out[fmt.Sprintf("url %d %d", before, after)] = base64.RawURLEncoding.EncodeToString(b)
		}
	}
	return out
}

func TestRedactsEverySpelling(t *testing.T) {
	for _, secret := range []string{dummy, "abcdefgh", `qu"ote\back<html>&é漢/slash`, "%41 %2F+ space", strings.Repeat("long", 200)} {
		r := redactor(t, secret)
		for name, text := range spellings(t, secret) {
			in := "before " + text + " after"
			out := r.String(in)
			require.NotEqual(t, in, out, name)
			require.Contains(t, out, "[redacted]", name)
			require.Empty(t, r.Scan([]byte(out)), name)
			require.NotEmpty(t, r.Scan([]byte(in)), name)
			require.True(t, strings.HasPrefix(out, "before ") && strings.HasSuffix(out, " after"), "%s: %s", name, out)
		}
	}
}

func TestRedactorSparesTheRest(t *testing.T) {
	r := redactor(t, dummy, "second-secret")
	for _, s := range []string{"", "d", "dummy-Secret/4", "nothing here", dummy[1:]} {
		require.Equal(t, s, r.String(s))
	}
	var none *wire.Redactor
	require.Equal(t, dummy, none.String(dummy))
	require.Equal(t, "S1", r.Scan([]byte("x second-secret"))[0].Name)
	require.Equal(t, 2, r.Scan([]byte("x second-secret"))[0].At)
	require.NotContains(t, fmt.Sprintf("%v %+v", r.Scan([]byte(dummy)), r.Scan([]byte(dummy))), dummy)
}

func TestOverlappingSecretsLeaveNoTail(t *testing.T) {
	r := redactor(t, "abcdefgh", "efghijkl", "abcdefghijklmnop")
	require.Equal(t, "[redacted]", r.String("abcdefghijkl"))
	require.Equal(t, "[redacted]", r.String("abcdefghijklmnop"))
	require.Equal(t, "[redacted]x", r.String("abcdefghijklx"))
}

func TestShortSecretsAreRefused(t *testing.T) {
	_, err := wire.NewRedactor(wire.NamedSecret{Name: "KEY", Value: port.NewSecret("1234567")})
	require.Equal(t, port.CodeInvalidArgument, port.CodeOf(err))
	require.Contains(t, err.Error(), "KEY")
	require.NotContains(t, err.Error(), "1234567")
	_, err = wire.NewRedactor(wire.NamedSecret{Name: "absent"})
	require.NoError(t, err)
}

func TestRedactingWriterAcrossBorders(t *testing.T) {
	r := redactor(t, dummy, "abababab-abababac")
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var text strings.Builder
		parts := []string{dummy, dummy[:5], "abab", "abababab-abababac", "\n", "ordinary", url.QueryEscape(dummy), "%"}
		for range rng.IntN(8) {
			text.WriteString(parts[rng.IntN(len(parts))])
		}
		var out bytes.Buffer
		w := r.Writer(&out)
		for rest := text.String(); rest != ""; {
			n := 1 + rng.IntN(len(rest))
			k, err := io.WriteString(w, rest[:n])
			require.NoError(t, err)
			require.Equal(t, n, k)
			require.Empty(t, r.Scan(out.Bytes()))
			rest = rest[n:]
		}
		require.NoError(t, w.Close())
		require.NoError(t, w.Close())
		require.Equal(t, r.String(text.String()), out.String())
	}
}

func TestRedactingWriterIsLiveAndReportsErrors(t *testing.T) {
	r := redactor(t, dummy)
	var out bytes.Buffer
	w := r.Writer(&out)
	_, err := io.WriteString(w, "prompt> ")
	require.NoError(t, err)
	require.Equal(t, "prompt> ", out.String(), "text that begins no secret must not be held back")
	require.NoError(t, w.Close())
	_, err = io.WriteString(w, "x")
	require.Error(t, err)

	pr, pw := io.Pipe()
	require.NoError(t, pr.Close())
	w = r.Writer(pw)
	_, err = io.WriteString(w, "x")
	require.ErrorIs(t, err, io.ErrClosedPipe)
	require.ErrorIs(t, w.Close(), io.ErrClosedPipe)
}

func TestRedactionComesBeforeTruncation(t *testing.T) {
	r := redactor(t, dummy)
	in := []byte("log " + dummy + " end")
	for limit := range len(in) + 2 {
		for _, out := range [][]byte{r.RedactTail(in, limit), r.RedactHead(in, limit)} {
			require.LessOrEqual(t, len(out), limit)
			for i := 0; i+6 <= len(dummy); i++ {
				require.NotContains(t, string(out), dummy[i:i+6])
			}
		}
	}
}

func TestRedactedErrorKeepsItsNature(t *testing.T) {
	r := redactor(t, dummy)
	cause := &wire.TooLargeError{Limit: 3}
	err := r.Error(fmt.Errorf("key %s: %w: %w", dummy, io.ErrUnexpectedEOF, cause))
	require.NotContains(t, err.Error(), dummy)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	got, ok := errors.AsType[*wire.TooLargeError](err)
	require.True(t, ok)
	require.Same(t, cause, got)
	err = r.Error(&port.Error{Code: port.CodeNotFound, Reason: "no " + dummy, Err: errors.New(dummy)})
	require.Equal(t, port.CodeNotFound, port.CodeOf(err))
	require.NotContains(t, err.Error(), dummy)
	require.NoError(t, r.Error(nil))
}

func FuzzRedactStream(f *testing.F) {
	r := redactor(f, dummy, "abababab")
	f.Add([]byte("x"+dummy+"y"), 3)
	f.Add([]byte("ababababababab"), 5)
	f.Fuzz(func(t *testing.T, b []byte, at int) {
		var out bytes.Buffer
		w := r.Writer(&out)
		at = min(max(at, 0), len(b))
		for _, part := range [][]byte{b[:at], b[at:]} {
			if _, err := w.Write(part); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(out.Bytes(), r.Bytes(b)) {
			t.Fatalf("%q: stream %q, whole %q", b, out.Bytes(), r.Bytes(b))
		}
		if bytes.Contains(out.Bytes(), []byte(dummy)) {
			t.Fatal("a secret passed")
		}
	})
}
