package wire_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
	"github.com/stretchr/testify/require"
)

// nasty pieces are what the encodings use themselves, or what vendors fold.
func nasty(r *rand.Rand) string {
	pieces := []string{"", "a", "z", "zz", "z2d", "-", "--", ".", "_", "_2E", "sbx", "sbx1", "sbx-", "sbx.owner", "é", "漢",
		"A", "=", ",", "\n", " ", "\x00", "0", "%41", `"`, "owner", "~", "/", ":"}
	var b strings.Builder
	for range r.IntN(5) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

type sample struct {
	labels map[string]string
	tags   wire.Tags
	prefix string
}

func randomSample(r *rand.Rand, enc wire.Encoding) sample {
	s := sample{tags: wire.Tags{Owner: "o" + nasty(r), Run: nasty(r), Intent: nasty(r)}}
	if r.IntN(2) == 0 {
		t := time.UnixMilli(r.Int64N(4e12) - 1e12).UTC()
		s.tags.ReapAfter = &t
	}
	if enc.CarriesLabels() {
		s.labels = map[string]string{}
		for range r.IntN(4) {
			s.labels["k"+nasty(r)] = nasty(r)
		}
	}
	if enc == wire.EncodingName {
		s.prefix = []string{"", "web", "a-b", "sbx", "sbx-a-b-c"}[r.IntN(5)]
	}
	return s
}

func (s sample) String() string {
	reap := "none"
	if s.tags.ReapAfter != nil {
		reap = s.tags.ReapAfter.String()
	}
	return fmt.Sprintf("%q %q %q %s %q %q", s.tags.Owner, s.tags.Run, s.tags.Intent, reap, s.labels, s.prefix)
}

func TestTagsRoundTripAndInjective(t *testing.T) {
	for _, enc := range []wire.Encoding{wire.EncodingMap, wire.EncodingPacked, wire.EncodingName} {
		t.Run(string(enc), func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, 11))
			seen := map[string]string{}
			for range 20000 {
				s := randomSample(r, enc)
				if !enc.CarriesReapAfter() {
					s.tags.ReapAfter = nil
				}
				e, err := wire.Encode(enc, wire.Limits{MaxName: 1 << 20}, s.labels, s.tags, s.prefix)
				require.NoError(t, err, s)
				d := wire.Decode(enc, e)
				require.Equal(t, wire.MarkingTagged, d.Marking, s)
				require.Equal(t, s.tags, d.Tags, s)
				require.Equal(t, s.prefix, d.Name, s)
				require.True(t, maps.Equal(s.labels, d.Labels), s)
				key := fmt.Sprintf("%q %q %q", e.Name, e.Labels, e.Packed)
				if before, ok := seen[key]; ok {
					require.Equal(t, before, s.String(), "two inputs, one encoding")
				}
				seen[key] = s.String()
				if enc == wire.EncodingPacked {
					require.Regexp(t, regexp.MustCompile(`^[A-Za-z0-9._-]+$`), e.Packed)
				}
				if enc == wire.EncodingName {
					require.Regexp(t, regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`), e.Name)
				}
			}
		})
	}
}

func TestNoneKnowsNothing(t *testing.T) {
	e, err := wire.Encode(wire.EncodingNone, wire.Limits{}, nil, wire.Tags{Owner: "me"}, "box")
	require.NoError(t, err)
	require.Equal(t, wire.Encoded{Name: "box"}, e)
	require.Equal(t, wire.Decoded{Name: "box"}, wire.Decode(wire.EncodingNone, e))
	require.Equal(t, wire.MarkingUnknown, wire.Decode(wire.EncodingNone, e).Marking)
}

func TestMapHoldsTheKeysReapersKnow(t *testing.T) {
	at := time.UnixMilli(1700000000123)
	e, err := wire.Encode(wire.EncodingMap, wire.Limits{}, map[string]string{"team": "x"},
		wire.Tags{Owner: "me", Run: "r", Intent: "i", ReapAfter: &at}, "box")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"team": "x", "sbx.owner": "me", "sbx.run": "r", "sbx.intent": "i",
		"_sandbox.attributionTag": "sbx:me", "_sandbox.ephemeralUntil": "1700000000123"}, e.Labels)
	require.Equal(t, "box", e.Name)
}

func TestUserLabelsCannotTouchOurs(t *testing.T) {
	for _, key := range []string{"sbx.owner", "sbx.x", "SBX.Owner", " sbx.owner", "ſbx.owner", "_sandbox.ephemeralUntil", "_Sandbox.attributiontag", "\tsbx.run"} {
		for _, enc := range []wire.Encoding{wire.EncodingMap, wire.EncodingPacked} {
			_, err := wire.Encode(enc, wire.Limits{}, map[string]string{key: "thief"}, wire.Tags{Owner: "me"}, "")
			require.Equal(t, port.CodeInvalidArgument, port.CodeOf(err), key)
			require.Contains(t, err.Error(), fmt.Sprintf("%q", key))
		}
	}
	r := rand.New(rand.NewPCG(3, 5))
	for range 5000 {
		forged, err := wire.Encode(wire.EncodingPacked, wire.Limits{}, nil, wire.Tags{Owner: "thief"}, "")
		require.NoError(t, err)
		labels := map[string]string{nasty(r) + "k": forged.Packed, "x" + forged.Packed: nasty(r)}
		e, err := wire.Encode(wire.EncodingPacked, wire.Limits{}, labels, wire.Tags{Owner: "me"}, "")
		if err == nil {
			require.Equal(t, "me", wire.Decode(wire.EncodingPacked, e).Tags.Owner)
		}
	}
}

func TestLabelsWithoutRoomAreUnsupported(t *testing.T) {
	for _, enc := range []wire.Encoding{wire.EncodingName, wire.EncodingNone} {
		_, err := wire.Encode(enc, wire.Limits{}, map[string]string{"a": "b"}, wire.Tags{Owner: "me"}, "")
		require.Equal(t, port.CodeUnsupported, port.CodeOf(err))
	}
}

func TestOverLimitIsRefusedNeverCut(t *testing.T) {
	labels := map[string]string{"key": "value"}
	tags := wire.Tags{Owner: "0123456789abcdef", Run: "0123456789abcdef", Intent: "0123456789abcdef"}
	fits, err := wire.Encode(wire.EncodingPacked, wire.Limits{}, labels, tags, "")
	require.NoError(t, err)
	_, err = wire.Encode(wire.EncodingPacked, wire.Limits{MaxPacked: len(fits.Packed)}, labels, tags, "")
	require.NoError(t, err)
	for name, f := range map[string]func() (wire.Encoded, error){
		"labels": func() (wire.Encoded, error) {
			return wire.Encode(wire.EncodingMap, wire.Limits{MaxLabels: 4}, labels, tags, "")
		},
		"key": func() (wire.Encoded, error) {
			return wire.Encode(wire.EncodingMap, wire.Limits{MaxKey: 22}, labels, tags, "")
		},
		"value": func() (wire.Encoded, error) {
			return wire.Encode(wire.EncodingMap, wire.Limits{MaxValue: 19}, labels, tags, "")
		},
		"key characters": func() (wire.Encoded, error) {
			return wire.Encode(wire.EncodingMap, wire.Limits{Key: regexp.MustCompile(`[a-z.]+`)}, labels, tags, "")
		},
		"value characters": func() (wire.Encoded, error) {
			return wire.Encode(wire.EncodingMap, wire.Limits{Value: regexp.MustCompile(`[a-z0-9]|[a-z0-9]+`)}, labels, tags, "")
		},
		"packed": func() (wire.Encoded, error) {
			return wire.Encode(wire.EncodingPacked, wire.Limits{MaxPacked: len(fits.Packed) - 1}, labels, tags, "")
		},
		"name": func() (wire.Encoded, error) {
			return wire.Encode(wire.EncodingName, wire.Limits{}, nil, tags, "a-long-name")
		},
		"prefix": func() (wire.Encoded, error) { return wire.Encode(wire.EncodingName, wire.Limits{}, nil, tags, "Ab") },
		"plain name": func() (wire.Encoded, error) {
			return wire.Encode(wire.EncodingMap, wire.Limits{MaxName: 3}, nil, tags, "name")
		},
		"no owner": func() (wire.Encoded, error) {
			return wire.Encode(wire.EncodingMap, wire.Limits{}, nil, wire.Tags{}, "")
		},
		"encoding": func() (wire.Encoded, error) { return wire.Encode("other", wire.Limits{}, nil, tags, "") },
		"UTF-8": func() (wire.Encoded, error) {
			return wire.Encode(wire.EncodingPacked, wire.Limits{}, map[string]string{"a": "\xff"}, tags, "")
		},
	} {
		e, err := f()
		require.Equal(t, port.CodeInvalidArgument, port.CodeOf(err), name)
		require.Zero(t, e, name)
	}
	e, err := wire.Encode(wire.EncodingName, wire.Limits{}, nil, tags, "")
	require.NoError(t, err)
	require.Len(t, e.Name, 61, "owner, run and intent of 16 characters fit a DNS label")
}

func TestDamagedTagsAreForeign(t *testing.T) {
	at := time.UnixMilli(1700000000123)
	tags := wire.Tags{Owner: "owner-1", Run: "run", Intent: "in", ReapAfter: &at}
	packed, err := wire.Encode(wire.EncodingPacked, wire.Limits{}, map[string]string{"a": "b", "c": "d"}, tags, "")
	require.NoError(t, err)
	named, err := wire.Encode(wire.EncodingName, wire.Limits{}, nil, tags, "web")
	require.NoError(t, err)
	for i := range packed.Packed {
		require.Equal(t, wire.MarkingForeign, wire.Decode(wire.EncodingPacked, wire.Encoded{Packed: packed.Packed[:i]}).Marking)
	}
	for i := range named.Name {
		require.Equal(t, wire.MarkingForeign, wire.Decode(wire.EncodingName, wire.Encoded{Name: named.Name[:i]}).Marking)
		d := wire.Decode(wire.EncodingName, wire.Encoded{Name: named.Name[i:]})
		require.True(t, i == 0 || d.Marking == wire.MarkingForeign, named.Name[i:])
	}
	require.Equal(t, wire.MarkingForeign, wire.Decode(wire.EncodingPacked, wire.Encoded{Packed: strings.ToUpper(packed.Packed)}).Marking)
	require.Equal(t, wire.MarkingForeign, wire.Decode(wire.EncodingMap, wire.Encoded{}).Marking)
	require.Equal(t, wire.MarkingForeign, wire.Decode(wire.EncodingMap, wire.Encoded{Labels: map[string]string{"sbx.owner": "me"}}).Marking)
	d := wire.Decode(wire.EncodingMap, wire.Encoded{Labels: map[string]string{
		"sbx.owner": "me", "_sandbox.attributionTag": "sbx:me", "_sandbox.ephemeralUntil": "soon"}})
	require.Equal(t, wire.MarkingTagged, d.Marking)
	require.Nil(t, d.Tags.ReapAfter, "a deadline that is not understood is none")
}

func FuzzDecodeTags(f *testing.F) {
	e, err := wire.Encode(wire.EncodingPacked, wire.Limits{}, map[string]string{"a": "b"}, wire.Tags{Owner: "me"}, "")
	require.NoError(f, err)
	f.Add(e.Packed)
	n, err := wire.Encode(wire.EncodingName, wire.Limits{}, nil, wire.Tags{Owner: "me"}, "web")
	require.NoError(f, err)
	f.Add(n.Name)
	f.Add("sbx-me-zz-zz-000000")
	f.Fuzz(func(t *testing.T, s string) {
		for _, enc := range []wire.Encoding{wire.EncodingPacked, wire.EncodingName} {
			d := wire.Decode(enc, wire.Encoded{Name: s, Packed: s})
			if d.Marking == wire.MarkingForeign {
				if d.Tags != (wire.Tags{}) {
					t.Fatalf("foreign with tags: %+v", d)
				}
				continue
			}
			name := d.Name
			again, err := wire.Encode(enc, wire.Limits{MaxName: 1 << 30}, d.Labels, d.Tags, name)
			if err != nil || (enc == wire.EncodingName && again.Name != s) || (enc == wire.EncodingPacked && again.Packed != s) {
				t.Fatalf("%q was accepted and encodes to %+v, %v", s, again, err)
			}
			if !utf8.ValidString(d.Tags.Owner) || d.Tags.Owner == "" {
				t.Fatalf("owner %q", d.Tags.Owner)
			}
		}
	})
}

func TestMatchLabels(t *testing.T) {
	have := map[string]string{"a": "1", "b": ""}
	require.True(t, wire.MatchLabels(have, nil))
	require.True(t, wire.MatchLabels(nil, nil))
	require.True(t, wire.MatchLabels(have, map[string]string{"a": "1", "b": ""}))
	require.False(t, wire.MatchLabels(have, map[string]string{"a": "2"}))
	require.False(t, wire.MatchLabels(have, map[string]string{"c": ""}))
	require.False(t, wire.MatchLabels(nil, map[string]string{"a": ""}))
}
