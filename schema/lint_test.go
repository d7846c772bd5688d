package schema

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestCommittedSchemasLintClean(t *testing.T) {
	for _, p := range LintAll(Files()) {
		t.Error(p)
	}
	names, err := fs.Glob(Files(), "*.schema.json")
	require.NoError(t, err)
	require.Subset(t, names, []string{ProviderFile, ContractFile, CatalogFile})
}

// document is a manifest schema with one property and some definitions.
func document(property, defs string) string {
	if defs == "" {
		defs = `"filler": {"type": "string"}`
	}
	return fmt.Sprintf(`{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "https://sbx.dev/schema/provider.schema.json",
  "title": "T",
  "description": "D",
  "type": "object",
  "properties": {
    %s
  },
  "additionalProperties": false,
  "$defs": {
    %s
  }
}`, property, defs)
}

// property is a document whose only property has these further members.
func property(members string) string {
	return document(`"p": {"title": "P", "description": "A p.", `+members+`}`, "")
}

// capability is a document with one capability.
func capability(id, xsbx string) string {
	return document(`"p": {"title": "P", "description": "A p.", "$ref": "#/$defs/capabilities"}`,
		`"capabilities": {"title": "C", "type": "object", "properties": {
      `+id+`: {"title": "L", "description": "A c.", "$ref": "#/$defs/claim", "x-sbx": `+xsbx+`}
    }, "additionalProperties": false},
    "claim": {"type": "object", "properties": {}, "additionalProperties": false}`)
}

// method is a capability with one method.
func method(members string) string {
	return capability(`"list"`, `{"interface": "Lister", "methods": [{`+members+`}]}`)
}

const validMethod = `"name": "List", "doc": "List lists.", "effect": "read", "retry": "safe", "params": [], "results": []`

// The mark ¶ stands right before the place a problem must be reported at.
func TestLintNamesTheExactPlace(t *testing.T) {
	closedA := `{"type": "object", "properties": {"a": {"title": "A", "description": "a", "type": "string"}}, "required": ["a"], "additionalProperties": false}`
	overlap := `{"type": "object", "properties": {"a": {"title": "A", "description": "a", "type": "string"}}, "additionalProperties": false}`
	cases := map[string]struct{ src, message, suggestion string }{
		"misspelt keyword":           {property(`"type": "string", ¶"minLenght": 3`), `keyword "minLenght" is not supported`, "minLength"},
		"keyword of another draft":   {property(`"type": "string", ¶"allOf": []`), `keyword "allOf" is not supported`, ""},
		"keyword nobody supports":    {property(`"type": "string", ¶"dependentRequired": {}`), `keyword "dependentRequired" is not supported`, ""},
		"misspelt type":              {property(`"type": ¶"strng"`), `type "strng" is not supported`, "string"},
		"list of types":              {property(`"type": ¶["string", "null"]`), `type must be one word`, ""},
		"misspelt format":            {property(`"type": "string", "format": ¶"datetime"`), `format "datetime" is not supported`, "date-time"},
		"broken pattern":             {property(`"type": "string", "pattern": ¶"("`), `pattern does not compile`, ""},
		"bound of wrong type":        {property(`"type": "string", "minLength": ¶"3"`), `minLength must be a whole number`, ""},
		"bounds crossed":             {property(`"type": "string", "minLength": ¶3, "maxLength": 2`), `minLength is above maxLength`, ""},
		"empty enum":                 {property(`"type": "string", "enum": ¶[]`), `enum has no values`, ""},
		"doubled enum word":          {property(`"type": "string", "enum": ["a", ¶"a"]`), `enum value "a" appears twice`, ""},
		"array of anything":          {document(`"p": ¶{"title": "P", "description": "A p.", "type": "array"}`, ""), `an array must say what its items are`, ""},
		"no constraint":              {document(`"p": ¶{"title": "P", "description": "A p."}`, ""), `the schema allows everything`, ""},
		"open object":                {document(`"p": ¶{"title": "P", "description": "A p.", "type": "object", "properties": {}}`, ""), `additionalProperties is missing`, ""},
		"object open on purpose":     {property(`"type": "object", "properties": {}, "additionalProperties": ¶true`), `an object must be closed`, ""},
		"required is no property":    {property(`"type": "object", "properties": {"alpha": {"title": "A", "description": "a", "type": "string"}}, "required": [¶"alhpa"], "additionalProperties": false`), `required name "alhpa" is no property`, "alpha"},
		"missing title":              {document(`¶"p": {"description": "A p.", "type": "string"}`, ""), `property "p" has no title`, ""},
		"missing description":        {document(`¶"p": {"title": "P", "type": "string"}`, ""), `property "p" has no description`, ""},
		"blank description":          {document(`¶"p": {"title": "P", "description": " ", "type": "string"}`, ""), `property "p" has no description`, ""},
		"dangling ref":               {property(`"$ref": ¶"#/$defs/fillre"`), `$ref "#/$defs/fillre" leads nowhere`, "#/$defs/filler"},
		"ref to elsewhere":           {property(`"$ref": ¶"https://example.com/x.json"`), `$ref must start with #/$defs/`, ""},
		"contract ref outside x-sbx": {property(`"$ref": ¶"contract.schema.json#/$defs/State"`), `references into contract.schema.json belong into x-sbx`, ""},
		"keyword beside ref":         {property(`"$ref": "#/$defs/filler", ¶"minLength": 2`), `minLength beside $ref would be ignored`, ""},
		"ref in a circle":            {document(`"p": {"title": "P", "description": "A p.", "type": "string"}`, `"a": {"$ref": ¶"#/$defs/a"}`), `never reaches a schema`, ""},
		"overlapping alternatives":   {property(`"oneOf": [` + overlap + `, ¶` + strings.Replace(overlap, `"A"`, `"B"`, 1) + `]`), `alternatives of oneOf must differ`, ""},
		"single alternative":         {property(`"oneOf": ¶[` + closedA + `]`), `oneOf needs two alternatives`, ""},
		"if on a pattern":            {property(`"type": "object", "properties": {"a": {"title": "A", "description": "a", "type": "string"}}, "additionalProperties": false, "if": {"properties": {"a": ¶{"pattern": "x"}}, "required": ["a"]}, "then": {"required": ["a"]}`), `a condition on "a" must be one const`, ""},
		"if on a missing property":   {property(`"type": "object", "properties": {"kind": {"title": "A", "description": "a", "type": "string"}}, "additionalProperties": false, "if": {"properties": {¶"knid": {"const": "x"}}, "required": ["knid"]}, "then": {"required": ["kind"]}`), `condition on "knid", which is no property`, "kind"},
		"then without if":            {property(`"type": "object", "properties": {}, "additionalProperties": false, ¶"then": {}`), `then without if`, ""},
		"definitions inside":         {property(`"type": "string", ¶"$defs": {}`), `$defs belongs to the root`, ""},
		"doubled key":                {property(`"type": "string", ¶"type": "integer"`), `"type" appears twice`, ""},
		"unknown form key":           {property(`"type": "string", "x-sbx": {¶"aks": 1}`), `x-sbx has no key "aks" here`, "ask"},
		"ninth question":             {property(`"type": "string", "x-sbx": {"ask": ¶9, "question": "?"}`), `ask must be a number from 1 to 8`, ""},
		"unknown capability key":     {capability(`"list"`, `{¶"interfaec": "Lister"}`), `x-sbx has no key "interfaec" here`, "interface"},
		"claim key on a capability":  {capability(`"list"`, `{¶"claim": false}`), `x-sbx has no key "claim" here`, ""},
		"check nobody has":           {capability(`"list"`, `{"checks": [¶"list.contains-craeted"]}`), `check "list.contains-craeted" is not in checks.json`, "list.contains-created"},
		"flag of no type":            {capability(`"labels"`, `{"flag": [¶"CreateRequst.labels"]}`), `flag "CreateRequst.labels" names no field`, "CreateRequest.labels"},
		"flag of no field":           {capability(`"labels"`, `{"flag": [¶"CreateRequest.lables"]}`), `flag "CreateRequest.lables" names no field`, "CreateRequest.labels"},
		"capability called move":     {capability(`¶"move"`, `{}`), `moving a session is not a capability`, ""},
		"interface without methods":  {capability(`"list"`, `¶{"interface": "Lister"}`), `interface and methods belong together`, ""},
		"doubled method":             {capability(`"list"`, `{"interface": "Lister", "methods": [{`+validMethod+`}, {`+strings.Replace(validMethod, `"List"`, `¶"List"`, 1)+`}]}`), `method List is already at`, ""},
		"misspelt effect":            {method(strings.Replace(validMethod, `"read"`, `¶"raed"`, 1)), `effect "raed" is not supported`, "read"},
		"misspelt retry":             {method(strings.Replace(validMethod, `"safe"`, `¶"save"`, 1)), `retry "save" is not supported`, "safe"},
		"misspelt method key":        {method(validMethod + `, ¶"creats": "sandbox"`), `x-sbx has no key "creats" here`, "creates"},
		"creates by reading":         {method(validMethod + `, "creates": ¶"sandbox"`), `creates without effect create`, ""},
		"unknown resource":           {method(strings.Replace(validMethod, "read", "create", 1) + `, "creates": ¶"sandboks"`), `creates "sandboks" is not supported`, "sandbox"},
		"misspelt scalar":            {method(strings.Replace(validMethod, `"params": []`, `"params": [{"name": "a", "type": ¶"strnig"}]`, 1)), `"strnig" is neither a scalar nor a handle`, "string"},
		"new handle":                 {method(strings.Replace(validMethod, `"params": []`, `"params": [{"name": "a", "type": ¶"Socket"}]`, 1)), `"Socket" is neither a scalar nor a handle`, ""},
		"dangling contract ref":      {method(strings.Replace(validMethod, `"params": []`, `"params": [{"name": "a", "type": {"items": {"$ref": ¶"contract.schema.json#/$defs/Instanse"}}}]`, 1)), `names no definition of contract.schema.json`, "contract.schema.json#/$defs/Instance"},
		"parameter without a type":   {method(strings.Replace(validMethod, `"params": []`, `"params": [¶{"name": "a"}]`, 1)), `x-sbx lacks "type" here`, ""},
		"method without effect":      {method(strings.Replace("¶"+validMethod, `"effect": "read", `, "", 1)), `x-sbx lacks "effect" here`, ""},
		"documents of two":           {property(`"type": "string"`) + "\n¶{}", `text after the document`, ""},
		"cut document":               {`{"title": "T"¶`, `the document ends too early`, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			before, after, marked := strings.Cut(c.src, "¶")
			require.True(t, marked)
			if name == "method without effect" { // reported at the object, whose brace is in front
				before, after = strings.TrimSuffix(before, "{"), "{"+after
			}
			line := 1 + strings.Count(before, "\n")
			col := 1 + len([]rune(before[strings.LastIndex(before, "\n")+1:]))
			var at []string
			for _, p := range Lint(ProviderFile, []byte(before+after)) {
				at = append(at, p.String())
				if p.Line == line && p.Col == col && strings.Contains(p.Message, c.message) {
					require.Equal(t, c.suggestion, p.Suggestion, p.Message)
					return
				}
			}
			require.Failf(t, "not reported", "want %d:%d %s, got:\n%s", line, col, c.message, strings.Join(at, "\n"))
		})
	}
}

func TestLintAcceptsTheDocumentsTheTableStartsFrom(t *testing.T) {
	for _, src := range []string{property(`"type": "string"`), method(validMethod), capability(`"labels"`, `{"flag": ["CreateRequest.labels"]}`)} {
		require.Empty(t, Lint(ProviderFile, []byte(src)))
	}
}

func TestProblemIsPrintedWithItsPosition(t *testing.T) {
	src := property(`"type": "string", "minLenght": 3`)
	problems := Lint("somewhere/"+ProviderFile, []byte(src))
	require.Len(t, problems, 1)
	require.Equal(t, "somewhere/provider.schema.json:8:66: keyword \"minLenght\" is not supported; did you mean \"minLength\"?", problems[0].String())
	require.Equal(t, "/properties/p/minLenght", problems[0].Pointer)
}

// Mistakes put into a copy of the real schemas are found there.
func TestLintAllFindsMistakesInACopy(t *testing.T) {
	edits := map[string]struct{ file, old, new, want string }{
		"keyword":  {ProviderFile, `"uniqueItems": true`, `"uniqeItems": true`, `did you mean "uniqueItems"?`},
		"x-sbx":    {ProviderFile, `"interface": "Forker"`, `"interfase": "Forker"`, `did you mean "interface"?`},
		"ref":      {ProviderFile, `#/$defs/factIsolation`, `#/$defs/factIsolaton`, `did you mean "#/$defs/factIsolation"?`},
		"type":     {ContractFile, `"ForkResult": {`, `"ForkReslut": {`, `names no definition of contract.schema.json`},
		"check":    {checksFile, `"fork.independent"`, `"fork.independant"`, `did you mean "fork.independant"?`},
		"data key": {checksFile, `"sentence"`, `"sentense"`, `unknown field "sentense"`},
		"catalog":  {CatalogFile, `"additionalProperties": false`, `"additionalProperties": true`, `an object must be closed`},
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			tree := fstest.MapFS{}
			names, err := fs.Glob(Files(), "*.json")
			require.NoError(t, err)
			for _, name := range names {
				src, err := fs.ReadFile(Files(), name)
				require.NoError(t, err)
				if name == edit.file {
					require.Contains(t, string(src), edit.old)
					src = []byte(strings.Replace(string(src), edit.old, edit.new, 1))
				}
				tree[name] = &fstest.MapFile{Data: src}
			}
			var all []string
			for _, p := range LintAll(tree) {
				all = append(all, p.String())
			}
			require.Contains(t, strings.Join(all, "\n"), edit.want)
		})
	}
}

func FuzzLint(f *testing.F) {
	f.Add([]byte(property(`"type": "string"`)))
	f.Add([]byte(method(validMethod)))
	f.Add([]byte(`{"$defs":{"capabilities":{"properties":{"a":{"x-sbx":{"methods":[{"params":[{"type":{"items":{}}}]}]}}}}}}`))
	f.Add([]byte("\xef\xbb\xbf{}"))
	known := loadCompanions(Files())
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, p := range lintWith(ProviderFile, src, known) {
			if p.Line < 1 || p.Col < 1 || p.Message == "" {
				t.Fatalf("problem without a place or words: %+v", p)
			}
		}
	})
}

func BenchmarkLintAll(b *testing.B) {
	for b.Loop() {
		if p := LintAll(Files()); len(p) > 0 {
			b.Fatal(p[0])
		}
	}
}
