package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/schema"
)

func TestBaseCircle(t *testing.T) {
	of := func(bases map[string]string) func(string) string { return func(id string) string { return bases[id] } }
	require.Equal(t, []string{"a", "b", "a"}, schema.BaseCircle("a", of(map[string]string{"a": "b", "b": "a"})))
	require.Equal(t, []string{"a", "a"}, schema.BaseCircle("a", of(map[string]string{"a": "a"})))
	require.Nil(t, schema.BaseCircle("a", of(map[string]string{"a": "b", "b": "c"})))
	require.Nil(t, schema.BaseCircle("a", of(map[string]string{"a": "b", "b": "c", "c": "b"})), "a circle that a leads to and is not in")
	require.Nil(t, schema.BaseCircle("a", of(nil)))
}
