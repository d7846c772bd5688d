package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/agentworkforce/sbx/internal/secretscan"
	"go.yaml.in/yaml/v3"
)

// config is the file config.yaml. The zero value is that of a missing file.
//
//	providers: [docker, local]  # tried in this order
//	images:
//	  docker: alpine:3.22       # image per provider
type config struct {
	Providers []string
	Images    map[string]string
}

// configPath is where the file is, "" when there is no such place.
func (a *app) configPath() string {
	if dir := a.getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "sbx", "config.yaml")
	}
	if dir := a.getenv("AppData"); runtime.GOOS == "windows" && dir != "" {
		return filepath.Join(dir, "sbx", "config.yaml")
	}
	if home := a.home(); home != "" {
		return filepath.Join(home, ".config", "sbx", "config.yaml")
	}
	return ""
}

// config reads the file. What is wrong in it is a usage error with its place;
// no value is ever shown, because it may be a credential put in the wrong place.
func (a *app) config() (config, error) {
	path := a.configPath()
	if path == "" {
		return config{}, nil
	}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return config{}, nil
	}
	if err != nil {
		return config{}, usageError{err}
	}
	r := configReader{app: a, path: path}
	if found := secretscan.Scan(raw, secretscan.Options{}); len(found) > 0 {
		before := raw[:found[0].Start]
		line := bytes.Count(before, []byte("\n")) + 1
		column := len(before) - bytes.LastIndexByte(before, '\n')
		return config{}, r.at(line, column, "this looks like a credential; keep credentials in the environment, nowhere in this file")
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return config{}, usagef("%s: it is not YAML", path) // the parser's words may quote a value
	}
	if len(doc.Content) == 0 {
		return config{}, nil
	}
	return r.read(doc.Content[0])
}

// configReader turns the tree of one file into a config.
type configReader struct {
	app  *app
	path string
}

func (r configReader) at(line, column int, text string) error {
	return usagef("%s:%d:%d: %s", r.path, line, column, text)
}

func (r configReader) node(n *yaml.Node, text string) error { return r.at(n.Line, n.Column, text) }

func (r configReader) read(root *yaml.Node) (config, error) {
	var c config
	err := r.each(root, func(key, value *yaml.Node) error {
		var err error
		switch key.Value {
		case "providers":
			c.Providers, err = r.providers(value)
		case "images":
			c.Images, err = r.images(value)
		default:
			err = r.unknown(key, "providers, images")
		}
		return err
	})
	return c, err
}

// each visits the pairs of a mapping, each key once.
func (r configReader) each(n *yaml.Node, fn func(key, value *yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return r.node(n, "this must be a mapping")
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || seen[key.Value] {
			return r.node(key, "a key is a word, and is there once")
		}
		seen[key.Value] = true
		if err := fn(key, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// unknown refuses a key; one that a credential has is refused as such.
func (r configReader) unknown(key *yaml.Node, known string) error {
	if r.app.credential(key.Value) {
		return r.node(key, "this is the name of a credential; keep credentials in the environment, nowhere in this file")
	}
	return r.node(key, "this key is unknown; there are "+known)
}

func (r configReader) providers(n *yaml.Node) ([]string, error) {
	if n.Kind != yaml.SequenceNode {
		return nil, r.node(n, "this must be a list of providers")
	}
	var out []string
	for _, item := range n.Content {
		if err := r.provider(item); err != nil {
			return nil, err
		}
		out = append(out, item.Value)
	}
	return out, nil
}

func (r configReader) provider(n *yaml.Node) error {
	if _, ok := r.app.find(n.Value); n.Kind == yaml.ScalarNode && ok {
		return nil
	}
	return r.node(n, "this is no provider that is built in; there are "+strings.Join(r.app.ids(), ", "))
}

func (r configReader) images(n *yaml.Node) (map[string]string, error) {
	out := map[string]string{}
	return out, r.each(n, func(key, value *yaml.Node) error {
		if r.app.credential(key.Value) {
			return r.unknown(key, "")
		}
		if err := r.provider(key); err != nil {
			return err
		}
		if value.Kind != yaml.ScalarNode || value.Tag != "!!str" || strings.TrimSpace(value.Value) == "" {
			return r.node(value, "this must be the name of an image")
		}
		out[key.Value] = value.Value
		return nil
	})
}

// credential reports whether a key is one that credentials have.
func (a *app) credential(key string) bool {
	for _, d := range a.all() {
		for _, s := range d.Manifest.Settings {
			if s.Secret && (strings.EqualFold(key, s.Key) || strings.EqualFold(key, s.Env)) {
				return true
			}
		}
	}
	low := strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(key))
	for _, word := range []string{"password", "passwd", "secret", "secrets", "apikey", "token", "tokens", "privatekey", "credential", "credentials"} {
		if strings.HasSuffix(low, word) {
			return true
		}
	}
	return false
}
