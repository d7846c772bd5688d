package secretscan

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScan(t *testing.T) {
	// Put together here, so that this file holds no such value.
	gh, e2b := "gh"+"p_"+strings.Repeat("aB3dE9", 6), "e2"+"b_"+strings.Repeat("0a1b2c3d", 5)
	random := "q7" + "Zp9XwR4kT2vN8sLd5YhB3m"
	for text, want := range map[string]Kind{
		"a " + gh + " b": VendorKey, `{"key":"` + e2b + `"}`: VendorKey, "token-" + gh: VendorKey,
		"https://me:" + "hunter2hunter2@example.com/x": Address,
		"-----BEGIN OPENSSH " + "PRIVATE KEY-----\n":   PrivateKey,
		"x=" + random:                                      Random,
		"boat_stopped_by_idle_timer":                       "",
		"https://example.com:8080/a@b":                     "",
		strings.Repeat("0123456789abcdef", 4):              "",
		"sha256-" + random:                                 "",
		"20261129T142516Z-0123456789ab v0.43.0 create.env": "",
		"-----BEGIN PUBLIC KEY-----":                       "",
		"MutableIntervalCollectionFactoryImplementation":   "",
	} {
		found := Scan([]byte(text), Options{Entropy: true})
		if want == "" {
			require.Empty(t, found, text)
			continue
		}
		require.Len(t, found, 1, text)
		require.Equal(t, want, found[0].Kind, text)
		for _, f := range found {
			require.NotContains(t, f.What, text[f.Start:f.End])
		}
	}
	require.Empty(t, Scan([]byte(random), Options{}), "entropy is asked for")
	require.Empty(t, Scan(nil, Options{Entropy: true}))
	two := Scan([]byte(gh+"\n"+e2b), Options{})
	require.Len(t, two, 2)
	require.Less(t, two[0].Start, two[1].Start)
}
