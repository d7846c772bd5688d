package schemacheck

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/agentworkforce/sbx/internal/yamldoc"
)

// node is one subschema. Zero bounds that were not given are nil.
type node struct {
	Title       string           `json:"title"`
	Description string           `json:"description"`
	Default     any              `json:"default"`
	Type        string           `json:"type"`
	Enum        []any            `json:"enum"`
	Const       any              `json:"const"`
	Pattern     string           `json:"pattern"`
	Format      string           `json:"format"`
	MinLength   *int             `json:"minLength"`
	MaxLength   *int             `json:"maxLength"`
	MinItems    *int             `json:"minItems"`
	MaxItems    *int             `json:"maxItems"`
	MinProps    *int             `json:"minProperties"`
	MaxProps    *int             `json:"maxProperties"`
	Minimum     *float64         `json:"minimum"`
	Maximum     *float64         `json:"maximum"`
	ExMinimum   *float64         `json:"exclusiveMinimum"`
	ExMaximum   *float64         `json:"exclusiveMaximum"`
	UniqueItems bool             `json:"uniqueItems"`
	Properties  map[string]*node `json:"properties"`
	Required    []string         `json:"required"`
	Additional  *additional      `json:"additionalProperties"`
	Names       *node            `json:"propertyNames"`
	Items       *node            `json:"items"`
	OneOf       []*node          `json:"oneOf"`
	If          *node            `json:"if"`
	Then        *node            `json:"then"`
	Else        *node            `json:"else"`
	Ref         string           `json:"$ref"`
	Defs        map[string]*node `json:"$defs"`
	XSbx        *annotation      `json:"x-sbx"`

	target *node // of Ref
	re     func() *regexp.Regexp
}

// annotation is the part of x-sbx that says what the contract has for a
// capability.
type annotation struct {
	Interface string   `json:"interface"`
	Flag      []string `json:"flag"`
	Methods   []struct {
		Name string `json:"name"`
	} `json:"methods"`
}

// additional is the value of additionalProperties: closed, or a subschema.
type additional struct {
	closed bool
	schema *node
}

// UnmarshalJSON reads a boolean or a subschema.
func (a *additional) UnmarshalJSON(src []byte) error {
	switch string(src) {
	case "false":
		a.closed = true
		return nil
	case "true":
		return nil
	}
	return json.Unmarshal(src, &a.schema)
}

// parseModel reads a schema and resolves its references.
func parseModel(src []byte) (*node, error) {
	root := &node{}
	if err := json.Unmarshal(src, root); err != nil {
		return nil, err
	}
	return root, root.link(root)
}

// link resolves the reference of n and of everything below it.
func (n *node) link(root *node) error {
	if n.Ref != "" {
		name, ok := strings.CutPrefix(n.Ref, "#/$defs/")
		n.target = root.Defs[name]
		if !ok || n.target == nil {
			return fmt.Errorf("reference %q leads nowhere", n.Ref)
		}
	}
	if n.Pattern != "" {
		pattern := n.Pattern
		n.re = sync.OnceValue(func() *regexp.Regexp {
			re, err := regexp.Compile(pattern)
			if err != nil {
				return nil // jsonschema/v5 refuses the schema and says so
			}
			return re
		})
	}
	for child := range n.children() {
		if err := child.link(root); err != nil {
			return err
		}
	}
	return nil
}

// children yields the subschemas directly below n.
func (n *node) children() func(yield func(*node) bool) {
	return func(yield func(*node) bool) {
		one := []*node{n.Names, n.Items, n.If, n.Then, n.Else}
		if n.Additional != nil {
			one = append(one, n.Additional.schema)
		}
		for _, c := range slices.Concat(one, n.OneOf) {
			if c != nil && !yield(c) {
				return
			}
		}
		for _, m := range []map[string]*node{n.Properties, n.Defs} {
			for _, c := range m {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// deref follows references; a chain is at most a few long.
func (n *node) deref() *node {
	for range 16 {
		if n == nil || n.target == nil {
			return n
		}
		n = n.target
	}
	return n
}

// step returns the subschema that rest of a keyword location leads to, and what
// of the location is left: the keyword itself when n is where it stands.
func (n *node) step(keys []string) (*node, []string) {
	if len(keys) == 0 {
		return nil, nil
	}
	one := func(c *node) (*node, []string) { return c, keys[1:] }
	two := func(c *node) (*node, []string) { return c, keys[2:] }
	switch keys[0] {
	case "$ref":
		return one(n.target)
	case "items":
		return one(n.Items)
	case "propertyNames":
		return one(n.Names)
	case "if":
		return one(n.If)
	case "then":
		return one(n.Then)
	case "else":
		return one(n.Else)
	case "additionalProperties":
		if n.Additional != nil && n.Additional.schema != nil {
			return one(n.Additional.schema)
		}
		return nil, keys
	}
	if len(keys) < 2 {
		return nil, keys
	}
	switch keys[0] {
	case "properties":
		return two(n.Properties[keys[1]])
	case "$defs":
		return two(n.Defs[keys[1]])
	case "oneOf":
		if i, err := strconv.Atoi(keys[1]); err == nil && i >= 0 && i < len(n.OneOf) {
			return two(n.OneOf[i])
		}
	}
	return nil, keys
}

// place is where a keyword stands: the innermost subschema, the keyword, the
// property whose title describes the value, and the subschema's own location.
type place struct {
	node    *node
	keyword string
	titled  *node
}

// find walks a keyword location, as in /properties/id/pattern.
func (n *node) find(location string) place {
	keys := splitLocation(location)
	p := place{node: n, titled: n}
	for len(keys) > 0 {
		next, rest := p.node.step(keys)
		if next == nil {
			p.keyword = keys[0]
			return p
		}
		p.node, keys = next, rest
		if next.Title != "" && next.Title != "Value" {
			p.titled = next
		}
	}
	return p
}

// splitLocation splits a keyword location of v5, which is percent-encoded.
func splitLocation(location string) []string {
	pointer, ok := yamldoc.FromLocation(location)
	if !ok {
		return nil
	}
	keys, ok := yamldoc.Split(pointer)
	if !ok {
		return nil
	}
	return keys
}
