// Package gen turns schema/ and providers/*/provider.yaml into files.
//
// Every generator is a pure function from a model to map[path]bytes, where
// paths are slash-separated and relative to the root of the module that holds
// the files. Writing, checking, diffing and tests consume that map; see Tree.
// Output holds no version, date or machine path, and is the same under any
// GOMAXPROCS, TZ and locale.
//
// gen reads manifests through internal/yamldoc and the JSON Schema, never
// through generated/manifest, so that it runs when generated/ does not compile.
package gen
