package gate

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// typedTree is a module with a provider that imports a vendor's client, which is
// a module of its own.
func typedTree(t *testing.T, adapter string) string {
	return write(t, map[string]string{
		"go.mod":                       "module example.com/acme\n\ngo 1.26\n\nrequire vendor.example/client v1.0.0\n\nreplace vendor.example/client => ./client\n",
		"client/go.mod":                "module vendor.example/client\n\ngo 1.26\n",
		"client/client.go":             "package client\n\ntype Client struct{}\n\ntype Box[T any] struct{ V T }\n",
		"providers/acme/provider.yaml": goodManifest(t, "acme"),
		"providers/acme/adapter.go":    adapter,
		"providers/acme/zz_generated_client.go": "package acme\n\nimport \"vendor.example/client\"\n\ntype stopper interface{ Stop(id string) error }\n\n" +
			"var _ stopper = (*Adapter)(nil)\n\ntype Generated = client.Client\n",
	})
}

func TestTypes(t *testing.T) {
	const head = "package acme\n\nimport \"vendor.example/client\"\n\n"
	const stop = "func (a *Adapter) Stop(id string) error { return nil }\n"
	for name, c := range map[string]struct{ adapter, want, message string }{
		"kept inside":      {head + "type Adapter struct{ c client.Client }\n\n" + stop, "", ""},
		"not implemented":  {head + "type Adapter struct{ c client.Client }\n", "providers/acme/zz_generated_client.go SBX401", "missing method Stop"},
		"does not compile": {head + "type Adapter struct{ c client.Client; d int }\n\nfunc (a Adapter) n() string { return a.d }\n\n" + stop, "providers/acme/adapter.go SBX401", "cannot use a.d"},
		"field":            {head + "type Adapter struct{ C *client.Client }\n\n" + stop, "providers/acme/adapter.go SBX408", "Adapter shows callers client.Client"},
		"parameter":        {head + "type Adapter struct{}\n\nfunc New(c map[string][]client.Client) *Adapter { return nil }\n\n" + stop, "providers/acme/adapter.go SBX408", "New shows callers client.Client"},
		"result":           {head + "type Adapter struct{}\n\nfunc (a *Adapter) Raw() func() client.Box[int] { return nil }\n\n" + stop, "providers/acme/adapter.go SBX408", "Raw shows callers client.Box"},
		"another name":     {head + "type Adapter struct{}\n\ntype Client = client.Client\n\n" + stop, "providers/acme/adapter.go SBX408", "Client shows callers client.Client"},
		"not exported":     {head + "type Adapter struct{}\n\nfunc raw(c client.Client) {}\n\nfunc (a *Adapter) raw() client.Client { return client.Client{} }\n\n" + stop, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := typedTree(t, c.adapter)
			set, _ := check(t, Options{Root: root, NoCache: true, Types: true, Paths: []string{"providers/acme"}}, newCheckers())
			var of []string
			for _, d := range set.All() {
				if d.Rule == ruleNotCompiling || d.Rule == ruleVendorType {
					of = append(of, d.File+" "+d.Rule)
					require.Contains(t, d.Message, c.message)
					require.Positive(t, d.Line)
					require.Positive(t, d.Col)
				}
			}
			if c.want == "" {
				require.Empty(t, of)
				return
			}
			require.Equal(t, []string{c.want}, of)
			quiet, _ := check(t, Options{Root: root, NoCache: true, Paths: []string{"providers/acme"}}, newCheckers())
			require.NotContains(t, rules(quiet), c.want)
		})
	}
}
