package gitleaks

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// key is made at run time, so that no file holds something that looks like one.
func key() string { return "AKIA" + "QYLPMN5HHHFPZAM2" }

func TestScanFindsAKeyAtItsPlace(t *testing.T) {
	s, err := New()
	require.NoError(t, err)
	for name, src := range map[string]string{
		"first line":          "id: " + key() + "\n",
		"later line":          "one\ntwo\nid: " + key() + "\nfour\n",
		"CRLF":                "one\r\nid: " + key() + "\r\n",
		"no last line feed":   "one\nid: " + key(),
		"allowed by itself":   "id: " + key() + " # gitleaks:allow\n",
		"inside of JSON":      `{"a": {"id": "` + key() + `"}}`,
		"twice in the text":   "a: " + key() + "\n",
		"after what is legal": strings.Repeat("x: y\n", 5000) + "id: " + key() + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			found := s.Scan([]byte(src))
			require.Len(t, found, 1)
			require.Equal(t, "aws-access-token", found[0].Rule)
			require.NotEmpty(t, found[0].What)
			require.Equal(t, key(), src[found[0].Start:found[0].End])
		})
	}
}

func TestScanLooksThroughEncodings(t *testing.T) {
	s, err := New()
	require.NoError(t, err)
	line := "blob: " + base64.StdEncoding.EncodeToString([]byte("the id is "+key()+" here"))
	src := "one\n" + line + "\nthree\n"
	found := s.Scan([]byte(src))
	require.Len(t, found, 1)
	require.Equal(t, line, src[found[0].Start:found[0].End])
}

func TestScanOfNothing(t *testing.T) {
	s, err := New()
	require.NoError(t, err)
	for _, src := range []string{"", "\n", "plain words\n", "sha256: " + strings.Repeat("0123456789abcdef", 4) + "\n"} {
		found := s.Scan([]byte(src))
		require.Empty(t, found, "%q", src)
	}
}
