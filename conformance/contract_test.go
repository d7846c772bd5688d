package conformance

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/sandbox"
)

// everything is a driver whose manifest claims all there is.
func everything() sandbox.Driver {
	m := contract.Manifest{ID: "all", Claims: map[string]contract.Claim{}, GoneProof: contract.GoneProofInspect, ForkKeeps: contract.KeepsDisk}
	for _, c := range contract.Capabilities() {
		if c.Implementable() {
			m.Claims[string(c)] = contract.Claim{Support: contract.SupportSupported}
		}
	}
	return sandbox.Driver{ID: "all", Manifest: m}
}

// fixtureTexts are the contract fixtures by operation, as they stand in the file.
func fixtureTexts(t *testing.T) map[string]string {
	t.Helper()
	raw, err := os.ReadFile("testdata/contract.json")
	require.NoError(t, err)
	var list []json.RawMessage
	require.NoError(t, json.Unmarshal(raw, &list))
	texts := map[string]string{}
	for _, element := range list {
		var f fixture
		require.NoError(t, json.Unmarshal(element, &f))
		texts[f.Operation] = string(element)
	}
	return texts
}

// replayText replays a fixture from its text.
func replayText(t *testing.T, d sandbox.Driver, op described, text string) error {
	t.Helper()
	fixtures, problems := readFixtures([]described{op}, []byte("["+text+"]"))
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	return replay(t.Context(), d, op, fixtures[op.Name], t.TempDir())
}

func TestReplayRefusesWhatIsNotExact(t *testing.T) {
	operations, err := describedOperations()
	require.NoError(t, err)
	byName := map[string]described{}
	for _, op := range operations {
		byName[op.Name] = op
	}
	texts := fixtureTexts(t)
	for name, c := range map[string]struct{ op, from, to, want string }{
		"unknown field in the request":  {"Exec", `"argv"`, `"argw"`, "argw"},
		"unknown field in the answer":   {"Inspect", `"nativeState"`, `"nativState"`, "nativState"},
		"unknown field in the fixture":  {"Stop", `"want"`, `"wants"`, "wants"},
		"field that is not encoded":     {"Exec", `"openStdin": false`, `"openStdin": false, "dir": ""`, "decoded and encoded again"},
		"missing parameter":             {"PortURL", `"port": 420`, `"other": 420`, `"port" is missing`},
		"another operation":             {"Stop", `"operation": "Stop"`, `"operation": "Start"`, "Start"},
		"another capability":            {"Stop", `"capability": "stop"`, `"capability": "suspend"`, "suspend"},
		"want against the manifest":     {"Stop", `"delivered"`, `"unsupported"`, "by this manifest"},
		"wrong type of a parameter":     {"PortURL", `420`, `"420"`, "cannot unmarshal"},
		"tags the library cannot leave": {"Create", `"intent": "intent0123456789"`, `"intent": ""`, "marks are missing"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := strings.Replace(texts[c.op], c.from, c.to, 1)
			require.NotEqual(t, texts[c.op], changed, "the fixture does not hold %s", c.from)
			require.NoError(t, replayText(t, everything(), byName[c.op], texts[c.op]))
			require.ErrorContains(t, replayText(t, everything(), byName[c.op], changed), c.want)
		})
	}
}

func TestFixturesAreAClosedSet(t *testing.T) {
	operations, err := describedOperations()
	require.NoError(t, err)
	texts := fixtureTexts(t)
	read := func() []error {
		_, problems := readFixtures(operations, []byte("["+strings.Join(slices.Collect(maps.Values(texts)), ",")+"]"))
		return problems
	}
	require.Empty(t, read())
	exec := texts["Exec"]
	delete(texts, "Exec")
	texts["Teleport"] = strings.Replace(exec, `"Exec"`, `"Teleport"`, 1)
	problems := read()
	require.Len(t, problems, 2)
	require.ErrorContains(t, problems[0], "operation Exec has no fixture")
	require.ErrorContains(t, problems[1], `of "Teleport", which is no operation`)
	texts["Teleport"] = texts["Stop"]
	texts["Exec"] = exec
	require.ErrorContains(t, errors.Join(read()...), "operation Stop has two fixtures")
	_, problems = readFixtures(operations, []byte("[]{}"))
	require.ErrorContains(t, errors.Join(problems...), "text after")
}

func TestUnsupportedFixtureReachesNothing(t *testing.T) {
	operations, err := describedOperations()
	require.NoError(t, err)
	d := everything()
	for _, c := range contract.Capabilities() {
		d.Manifest.Claims[string(c)] = contract.Claim{Support: contract.SupportUnsupported, Reason: "no"}
	}
	texts := fixtureTexts(t)
	for _, op := range operations {
		text := texts[op.Name]
		if op.Capability != "" {
			text = strings.Replace(text, `"delivered"`, `"unsupported"`, 1)
		}
		require.NoError(t, replayText(t, d, op, text), op.Name)
	}
}

func TestEveryImplementedCheckHasItsNeeds(t *testing.T) {
	checks, err := registry()
	require.NoError(t, err)
	byID := map[string]check{}
	for _, c := range checks {
		byID[c.ID] = c
	}
	for _, c := range checks {
		for _, need := range c.needs {
			require.NotNil(t, byID[need].run, "%s needs %s, which nobody has written", c.ID, need)
		}
	}
}

func TestResourcesAreComparedAsMeasured(t *testing.T) {
	two, mib := 1.5, int64(256)
	require.NoError(t, sameCPUs(&two, "150000", "100000"))
	require.Error(t, sameCPUs(&two, "100000", "100000"))
	require.Error(t, sameCPUs(&two, "max", "100000"))
	require.NoError(t, sameCPUs(nil, "max", "100000"))
	require.NoError(t, sameMemory(&mib, "268435456"))
	require.Error(t, sameMemory(&mib, "max"))
	require.NoError(t, sameMemory(nil, "max"))
}
