package gen

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/agentworkforce/sbx/schema"
)

// Question is one thing that a new provider's manifest is asked for. All of it
// comes from the provider schema: x-sbx.ask gives the order.
type Question struct {
	// Path leads to the answer in the manifest; "0" stands for the first entry
	// of a list.
	Path []string
	// Flag is the name of the command-line flag that answers it; empty for the
	// ID, which is an argument.
	Flag string
	// Title names the answer in a word or two, Text asks for it, Help explains it.
	Title, Text, Help string
	// Options are the only answers there are; empty for free text.
	Options []Option
	// Many tells that any number of options can be chosen.
	Many bool
	// Required tells that there is no manifest without an answer.
	Required bool
	// Default is the answer when none is given; empty when there is none.
	Default string
}

// Option is one possible answer.
type Option struct {
	Word string // as in the manifest
	Text string // what it means, in one sentence
}

// ProviderQuestions returns the questions of the embedded schema in order.
func ProviderQuestions() ([]Question, error) {
	s, err := readSources(schema.Files())
	if err != nil {
		return nil, err
	}
	v, err := loadVocabulary(s.provider, s.contract)
	if err != nil {
		return nil, err
	}
	root, err := parseOrdered(s.provider)
	if err != nil {
		return nil, err
	}
	return providerQuestions(root, v), nil
}

func has(o *object, key string) bool { return o.get(key) != nil }

type asked struct {
	order int
	Question
}

func providerQuestions(root *object, v *vocabulary) []Question {
	q := &questionReader{root: root, vocab: v}
	q.walk(root, nil, "", true)
	slices.SortStableFunc(q.found, func(a, b asked) int { return cmp.Compare(a.order, b.order) })
	var out []Question
	for _, a := range q.found {
		out = append(out, a.Question)
	}
	return out
}

type questionReader struct {
	root  *object
	vocab *vocabulary
	found []asked
}

// walk looks at the properties of n and what is below them. Entry is the name
// of the list entry n describes, empty outside of lists; required tells that
// every manifest has what n describes.
func (q *questionReader) walk(n *object, path []string, entry string, required bool) {
	properties := n.object("properties")
	if properties == nil {
		return
	}
	needed := n.strings("required")
	for _, key := range properties.keys {
		property := properties.object(key)
		at := append(slices.Clone(path), key)
		here := required && slices.Contains(needed, key)
		if x := property.object("x-sbx"); has(x, "ask") {
			q.ask(x, property, at, entry, here)
		}
		child, name := q.follow(property)
		for has(child, "items") {
			child, name = q.follow(child.object("items"))
			at = append(at, "0")
			here = false
		}
		if len(at) > len(path)+1 {
			q.walk(child, at, name, false)
		} else if !has(property.object("x-sbx"), "ask") {
			q.walk(child, at, entry, here)
		}
	}
}

// follow resolves a local $ref and names the definition it led to.
func (q *questionReader) follow(n *object) (*object, string) {
	name := ""
	for n.string("$ref") != "" {
		name, _ = strings.CutPrefix(n.string("$ref"), "#/$defs/")
		n = q.root.object("$defs").object(name)
	}
	return n, name
}

func (q *questionReader) ask(x, property *object, path []string, entry string, required bool) {
	number, _ := x.get("ask").(json.Number)
	order, err := number.Int64()
	if err != nil {
		return // schema.Lint has said so
	}
	resolved, _ := q.follow(property)
	a := asked{int(order), Question{Path: path, Title: property.string("title"), Text: x.string("question"),
		Help: property.string("description"), Required: required, Default: property.string("default")}}
	a.Flag = path[len(path)-1]
	if entry != "" {
		a.Flag = entry + "-" + a.Flag
	}
	switch {
	case len(path) == 1 && path[0] == "id":
		a.Flag = ""
	case has(resolved, "properties"):
		a.Many, a.Required = true, false
		a.Flag = strings.TrimSuffix(a.Flag, "ies") + "y"
		a.Options = q.offered()
	default:
		a.Options = wordsWithMeaning(property)
	}
	q.found = append(q.found, a)
}

// offered are the capabilities an adapter can have; reserved ones are not.
func (q *questionReader) offered() []Option {
	var out []Option
	for _, c := range q.vocab.capabilities {
		if c.iface != "" || len(c.flag) > 0 {
			out = append(out, Option{Word: c.id, Text: c.question})
		}
	}
	return out
}

// wordsWithMeaning reads an enum whose description explains each word as
// "word: meaning."
func wordsWithMeaning(property *object) []Option {
	var out []Option
	for _, word := range property.strings("enum") {
		o := Option{Word: word}
		for sentence := range strings.SplitSeq(property.string("description"), ". ") {
			if meaning, ok := strings.CutPrefix(sentence, word+": "); ok {
				o.Text = strings.TrimSuffix(meaning, ".")
			}
		}
		out = append(out, o)
	}
	return out
}
