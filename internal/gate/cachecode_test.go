package gate

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/internal/diag"
)

// Every field of facts survives the cache: the test fills each by reflection, so
// that one that is added and not coded fails it.
func TestEveryFactSurvivesTheCache(t *testing.T) {
	want := &examined{found: []diag.Diagnostic{{File: "x", Rule: "SBX120", Message: "a", Related: []diag.Related{{Message: "b"}}}}}
	n := 0
	fill(t, reflect.ValueOf(&want.facts).Elem(), &n)
	require.Greater(t, n, 60)
	src, err := encodeEntry(want)
	require.NoError(t, err)
	got, err := decodeEntry(src)
	require.NoError(t, err)
	require.Equal(t, want, got)
	for cut := range len(src) - 1 {
		if _, err := decodeEntry(src[:cut]); err == nil {
			require.Less(t, cut, len(src)-1) // the findings alone may be missing
			require.Contains(t, string(src[cut:]), `[{"File"`)
		}
	}
	require.Equal(t, 15, reflect.TypeFor[facts]().NumField())
}

func fill(t *testing.T, v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(string(rune('a' + *n%26)))
	case reflect.Int:
		v.SetInt(int64(*n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0), n)
		fill(t, v.Index(1), n)
	default:
		require.Fail(t, "a fact of another kind", v.Kind())
	}
}
