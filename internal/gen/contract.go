package gen

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
)

// sources are the schema files that generated code depends on.
type sources struct {
	provider, contract, catalog, errors []byte
	data                                map[string][]byte // rules, checks, hazards and metrics, by file name
}

func readSources(fsys fs.FS) (sources, error) {
	var s sources
	for name, dst := range map[string]*[]byte{
		"provider.schema.json": &s.provider, "contract.schema.json": &s.contract,
		"catalog.schema.json": &s.catalog, "errors.json": &s.errors,
	} {
		b, err := fs.ReadFile(fsys, name)
		if err != nil {
			return s, err
		}
		*dst = b
	}
	s.data = map[string][]byte{}
	for _, name := range []string{"rules.json", "checks.json", "hazards.json", "metrics.json"} {
		b, err := fs.ReadFile(fsys, name)
		if err != nil {
			return s, err
		}
		s.data[name] = b
	}
	return s, nil
}

// contractFiles renders everything that depends on schema/ alone.
func contractFiles(s sources) (map[string][]byte, error) {
	types, err := loadDataTypes(s.contract)
	if err != nil {
		return nil, err
	}
	v, err := loadVocabulary(s.provider, s.contract)
	if err != nil {
		return nil, err
	}
	errors, err := loadErrors(s.errors)
	if err != nil {
		return nil, err
	}
	files := manifestFiles(s)
	maps.Copy(files, map[string]func() ([]byte, error){
		"generated/contract/types.go":        func() ([]byte, error) { return contractTypesFile(types) },
		"generated/contract/capabilities.go": func() ([]byte, error) { return contractCapabilitiesFile(v) },
		"generated/contract/table.go":        func() ([]byte, error) { return contractTableFile(v) },
		"port/zz_generated_codes.go":         func() ([]byte, error) { return codesFile(errors) },
		"sandbox/zz_generated_operations.go": func() ([]byte, error) { return sandboxOperationsFile(v) },
	})
	return renderAll(files)
}

// renderAll runs every renderer and collects what it makes by path.
func renderAll(files map[string]func() ([]byte, error)) (map[string][]byte, error) {
	out := make(map[string][]byte, len(files))
	for path, f := range files {
		b, err := f()
		if err != nil {
			return nil, &RenderError{Path: path, Err: err}
		}
		out[path] = b
	}
	return out, nil
}

// RenderError says which file could not be rendered.
type RenderError struct {
	Path string
	Err  error
}

// Error names the file.
func (e *RenderError) Error() string { return "render " + e.Path + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *RenderError) Unwrap() error { return e.Err }

// Bootstrap writes the files that depend on schema/ alone into the module at
// root, without looking at what is there. It is for a tree whose generated/
// does not compile; `sbxgen generate` does the same and more.
func Bootstrap(ctx context.Context, root string) error {
	s, err := readSources(os.DirFS(filepath.Join(root, "schema")))
	if err != nil {
		return err
	}
	files, err := contractFiles(s)
	if err != nil {
		return err
	}
	for path, b := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := filepath.Join(root, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, b, 0o644); err != nil {
			return err
		}
	}
	return nil
}
