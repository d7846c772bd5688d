package evidence

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func canonicalText(t testing.TB, text string) string {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	var v any
	require.NoError(t, dec.Decode(&v))
	b, err := Canonical(v)
	require.NoError(t, err)
	return string(b)
}

// TestCanonicalVectors has the examples of RFC 8785, sections 3.2.2 to 3.2.4 and
// appendix B.
func TestCanonicalVectors(t *testing.T) {
	require.Equal(t, `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		canonicalText(t, `{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],
			"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`))
	require.Equal(t, "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}",
		canonicalText(t, `{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",
			"\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`))
	for bits, want := range map[uint64]string{
		0x0000000000000000: "0", 0x8000000000000000: "0", 0x0000000000000001: "5e-324", 0x8000000000000001: "-5e-324",
		0x7fefffffffffffff: "1.7976931348623157e+308", 0x4340000000000000: "9007199254740992",
		0x4430000000000000: "295147905179352830000", 0x44b52d02c7e14af5: "9.999999999999997e+22",
		0x44b52d02c7e14af6: "1e+23", 0x44b52d02c7e14af7: "1.0000000000000001e+23", 0x444b1ae4d6e2ef4e: "999999999999999700000",
		0x444b1ae4d6e2ef4f: "999999999999999900000", 0x444b1ae4d6e2ef50: "1e+21", 0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7",
		0x3eb0c6f7a0b5ed8d: "0.000001", 0x41b3de4355555553: "333333333.3333332", 0xbecbf647612f3696: "-0.0000033333333333333333",
		0x43143ff3c1cb0959: "1424953923781206.2",
	} {
		b, err := Canonical(math.Float64frombits(bits))
		require.NoError(t, err)
		require.Equal(t, want, string(b))
	}
}

func TestCanonicalRefuses(t *testing.T) {
	for _, v := range []any{math.NaN(), math.Inf(1), "\xff", map[string]any{"\xff": 1}, int64(1<<53 + 1), json.Number("1e999"), struct{}{}, []any{1, math.NaN()}} {
		_, err := Canonical(v)
		require.ErrorIs(t, err, errCanonical)
	}
}

func randomValue(r *rand.Rand, depth int) any {
	switch n := r.IntN(8); {
	case n == 0:
		return nil
	case n == 1:
		return r.IntN(2) == 0
	case n == 2:
		return math.Float64frombits(r.Uint64()&^(0x7ff<<52) | uint64(r.IntN(2046))<<52)
	case n == 3:
		return float64(r.Int64N(1 << 53))
	case n < 6 || depth == 0:
		return randomText(r)
	case n == 6:
		out := make([]any, r.IntN(4))
		for i := range out {
			out[i] = randomValue(r, depth-1)
		}
		return out
	default:
		out := map[string]any{}
		for range r.IntN(5) {
			out[randomText(r)] = randomValue(r, depth-1)
		}
		return out
	}
}

func randomText(r *rand.Rand) string {
	alphabet := []rune("ab\"\\\n\x01/<&\u2028é€\ue000😀")
	out := make([]rune, r.IntN(6))
	for i := range out {
		out[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(out)
}

// TestCanonicalProperties: the form says what the value says, and is the same
// for every way of writing it.
func TestCanonicalProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		v := randomValue(r, 4)
		b, err := Canonical(v)
		require.NoError(t, err)
		var back any
		require.NoError(t, json.Unmarshal(b, &back))
		indented, err := json.MarshalIndent(v, " ", "\t")
		require.NoError(t, err)
		require.Equal(t, string(b), canonicalText(t, string(indented)))
		again, err := Canonical(back)
		require.NoError(t, err)
		require.Equal(t, string(b), string(again))
		plain, err := json.Marshal(back)
		require.NoError(t, err)
		require.JSONEq(t, string(plain), string(b))
	}
}
