package conformance

import (
	"bytes"
	"os"
	"testing"
	"testing/fstest"

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

func TestReplayRefusesWhatIsNotExact(t *testing.T) {
	operations, err := describedOperations()
	require.NoError(t, err)
	byName := map[string]described{}
	for _, op := range operations {
		byName[op.Name] = op
	}
	for name, c := range map[string]struct{ op, from, to, want string }{
		"unknown field in the request":  {"Exec", `"argv"`, `"argw"`, "argw"},
		"unknown field in the answer":   {"Inspect", `"nativeState"`, `"nativState"`, "nativState"},
		"unknown field in the fixture":  {"Stop", `"want"`, `"wants"`, "wants"},
		"field that is not encoded":     {"Exec", `"openStdin": false`, `"openStdin": false, "dir": ""`, "decoded and encoded again"},
		"missing parameter":             {"PortURL", `"port": 420`, `"other": 420`, `"port" is missing`},
		"another operation":             {"Stop", `"operation": "Stop"`, `"operation": "Start"`, "Start"},
		"another capability":            {"Stop", `"capability": "stop"`, `"capability": "suspend"`, "suspend"},
		"want against the manifest":     {"Stop", `"delivered"`, `"unsupported"`, "by this manifest"},
		"text after the document":       {"Stop", "\n}\n", "\n}\n{}", "text after"},
		"wrong type of a parameter":     {"PortURL", `420`, `"420"`, "cannot unmarshal"},
		"tags the library cannot leave": {"Create", `"intent": "intent0123456789"`, `"intent": ""`, "marks are missing"},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile("testdata/contract/" + c.op + ".json")
			require.NoError(t, err)
			changed := bytes.Replace(raw, []byte(c.from), []byte(c.to), 1)
			require.NotEqual(t, raw, changed, "the fixture does not hold %s", c.from)
			require.NoError(t, replay(t.Context(), everything(), byName[c.op], raw, t.TempDir()))
			require.ErrorContains(t, replay(t.Context(), everything(), byName[c.op], changed, t.TempDir()), c.want)
		})
	}
}

func TestFixturesAreAClosedSet(t *testing.T) {
	operations, err := describedOperations()
	require.NoError(t, err)
	files := fstest.MapFS{}
	for _, op := range operations {
		files[op.Name+".json"] = &fstest.MapFile{}
	}
	require.Empty(t, closedSet(operations, files))
	delete(files, "Exec.json")
	files["Teleport.json"] = &fstest.MapFile{}
	problems := closedSet(operations, files)
	require.Len(t, problems, 2)
	require.ErrorContains(t, problems[0], "Exec.json is missing")
	require.ErrorContains(t, problems[1], "Teleport.json is of no operation")
}

func TestUnsupportedFixtureReachesNothing(t *testing.T) {
	operations, err := describedOperations()
	require.NoError(t, err)
	d := everything()
	for _, c := range contract.Capabilities() {
		d.Manifest.Claims[string(c)] = contract.Claim{Support: contract.SupportUnsupported, Reason: "no"}
	}
	for _, op := range operations {
		raw, err := os.ReadFile("testdata/contract/" + op.Name + ".json")
		require.NoError(t, err)
		if op.Capability != "" {
			raw = bytes.Replace(raw, []byte(`"delivered"`), []byte(`"unsupported"`), 1)
		}
		require.NoError(t, replay(t.Context(), d, op, raw, t.TempDir()), op.Name)
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
