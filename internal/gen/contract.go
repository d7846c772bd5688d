package gen

import (
	"os"
	"path/filepath"
)

// contractFiles renders everything that depends on schema/ alone.
func contractFiles(provider, contract []byte) (map[string][]byte, error) {
	types, err := loadDataTypes(contract)
	if err != nil {
		return nil, err
	}
	v, err := loadVocabulary(provider)
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for path, render := range map[string]func() ([]byte, error){
		"generated/contract/types.go":        func() ([]byte, error) { return contractTypesFile(types) },
		"generated/contract/capabilities.go": func() ([]byte, error) { return contractCapabilitiesFile(v) },
		"generated/contract/table.go":        func() ([]byte, error) { return contractTableFile(v) },
		"sandbox/zz_generated_operations.go": func() ([]byte, error) { return sandboxOperationsFile(v) },
	} {
		b, err := render()
		if err != nil {
			return nil, err
		}
		out[path] = b
	}
	return out, nil
}

// Bootstrap writes the files that depend on schema/ alone into the module at root.
func Bootstrap(root string) error {
	provider, err := os.ReadFile(filepath.Join(root, "schema", "provider.schema.json"))
	if err != nil {
		return err
	}
	contract, err := os.ReadFile(filepath.Join(root, "schema", "contract.schema.json"))
	if err != nil {
		return err
	}
	files, err := contractFiles(provider, contract)
	if err != nil {
		return err
	}
	for path, b := range files {
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(path)), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}
