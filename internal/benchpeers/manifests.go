package main

import (
	"bytes"
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
// and returns their paths. Their names, claims, reasons and limits differ. They are entries of a catalog, without adapter code, so that there is
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
	snapshot, ok := capabilities["snapshot"].(map[string]any)
	if !ok {
		return nil, errors.New("it has no snapshot facts")
	}
	for fact := range snapshot { // nothing is supported where there is no adapter
		snapshot[fact] = claim(i, 2)
	}
	for j, name := range variedCapabilities {
		capabilities[name] = claim(i, j)
	}
	m["preparedImage"] = map[string]any{"value": i%2 == 0, "from": "sdk", "class": "documented"}
	m["egress"] = map[string]any{"control": map[string]any{"value": "none"}}
	m["limits"] = map[string]any{"sandboxes": map[string]any{"value": 10 + i%90}}
	var text bytes.Buffer
	out := yaml.NewEncoder(&text)
	out.SetIndent(2)
	if err := errors.Join(out.Encode(m), out.Close()); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// variedCapabilities are stated in every generated manifest, differently.
var variedCapabilities = [...]string{"files", "suspend", "fork", "ssh", "ports", "logs", "metrics"}

func claim(i, j int) map[string]any {
	switch (i + j) % 3 {
	case 0:
		return map[string]any{"support": "unsupported", "from": "docs", "class": "documented",
			"reason": fmt.Sprintf("The vendor has no such operation; chapter %d says so.", 1+j)}
	case 1:
		return map[string]any{"support": "unknown", "reason": "Neither the documentation nor the SDK says it, and nobody tried it yet."}
	}
	return map[string]any{"support": "not-exposed", "from": "run", "class": "observed",
		"reason": "A run saw the call work; no operation here makes it."}
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
