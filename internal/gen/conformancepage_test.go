package gen

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/schema"
)

// The page lists every check once, with what evidence binds, and counts them.
func TestConformancePage(t *testing.T) {
	checks, err := schema.Checks()
	require.NoError(t, err)
	groups, levels, err := conformanceOf(checks)
	require.NoError(t, err)
	page, err := executeReference("conformance", referenceView{Groups: groups, Levels: levels})
	require.NoError(t, err)
	for _, c := range checks {
		require.Equal(t, 1, strings.Count(string(page), "| `"+c.ID+"` |"), c.ID)
		require.Contains(t, string(page), cell(c.Sentence))
	}
	owed, inGroups, inLevels := 0, 0, 0
	for _, g := range groups {
		require.NotEmpty(t, g.Checks, "a group without a check: %s", g.Word)
		require.Contains(t, string(page), "### "+g.Title+"\n")
		if inGroups += len(g.Checks); g.Owed {
			owed++
		}
	}
	for _, l := range levels {
		inLevels += l.Count
	}
	require.Equal(t, 6, owed)
	require.Equal(t, len(checks), inGroups)
	require.Equal(t, len(checks), inLevels)
	_, _, err = conformanceOf([]schema.Check{{ID: "x", Group: "create", Level: "L9"}})
	require.Error(t, err)
	_, _, err = conformanceOf([]schema.Check{{ID: "x", Group: "new", Level: "L1"}})
	require.Error(t, err)
}
