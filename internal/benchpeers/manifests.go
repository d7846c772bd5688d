package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// shape is what a generated manifest is made from: the complete manifest that
// the schema's tests use.
const shape = "schema/testdata/manifest-full.json"

// writeManifests makes n manifests as providers/pNNNN/provider.yaml below dir
// and returns their paths. They differ in what a provider can differ in: every
// second one has run its claims against the vendor, capabilities and limits
// rotate. They are entries of a catalog, without adapter code, so that there is
// nothing to examine but the manifests.
func writeManifests(checkout, dir string, n int) ([]string, error) {
	src, err := os.ReadFile(filepath.Join(checkout, filepath.FromSlash(shape)))
	if err != nil {
		return nil, err
	}
	var files []string
	size := 0
	for i := range n {
		text, err := manifestText(src, i)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", shape, err)
		}
		name := filepath.Join(dir, "providers", fmt.Sprintf("p%04d", i), "provider.yaml")
		if err := writeFile(name, text); err != nil {
			return nil, err
		}
		files = append(files, name)
		size += len(text)
	}
	if mean := size / n; mean < 3500 || mean > 5500 {
		return nil, fmt.Errorf("%s: the manifests made from it are %d bytes each, not about 4,400", shape, mean)
	}
	return files, nil
}

func writeFile(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, content, 0o644)
}

// manifestText is the i-th variant of the manifest src.
func manifestText(src []byte, i int) ([]byte, error) {
	var m map[string]any
	if err := json.Unmarshal(src, &m); err != nil {
		return nil, err
	}
	id := fmt.Sprintf("p%04d", i)
	m["id"], m["name"] = id, fmt.Sprintf("Provider %d", i)
	m["adapter"] = map[string]any{"kind": "none"}
	rename(m, "ACME_", strings.ToUpper(id)+"_")
	capabilities, ok := m["capabilities"].(map[string]any)
	if !ok {
		return nil, errors.New("it has no capabilities")
	}
	for j, name := range variedCapabilities {
		capabilities[name] = claim(i, j)
	}
	m["limits"] = map[string]any{"sandboxes": map[string]any{"value": 10 + i%90}}
	return yaml.Marshal(m)
}

// variedCapabilities are stated in every generated manifest, differently.
var variedCapabilities = [...]string{"suspend", "fork", "ssh", "ports", "logs", "metrics", "prompt", "templates",
	"mounts", "resize", "restart", "pty", "exec.async"}

func claim(i, j int) map[string]any {
	switch (i + j) % 3 {
	case 0:
		return map[string]any{"support": "unsupported", "from": "docs", "class": "documented",
			"reason": fmt.Sprintf("The vendor has no such operation; its documentation says so in chapter %d.", 1+j)}
	case 1:
		return map[string]any{"support": "unknown", "reason": "Neither the documentation nor the SDK says it, and nobody tried it yet."}
	}
	return map[string]any{"support": "not-exposed", "from": "sdk", "class": "observed",
		"reason": "The SDK has the call; no operation here makes it."}
}

// rename replaces a prefix of every text below v.
func rename(v any, old, new string) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if s, ok := value.(string); ok && strings.HasPrefix(s, old) {
				v[key] = new + s[len(old):]
			}
			rename(value, old, new)
		}
	case []any:
		for _, value := range v {
			rename(value, old, new)
		}
	}
}
