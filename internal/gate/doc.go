// Package gate holds the rules behind `sbxgen validate`: what a manifest, a
// catalog entry, evidence, an adapter's code and the text of all of them must
// not say. It answers with diagnostics at file, line and column, all phases of
// all files in one run.
//
// A file is examined by itself first; the outcome depends on its path and bytes
// only and is kept in a cache. Then come the rules about several files and about
// time, which look at the facts that the first step extracted. Nothing here
// executes what it reads, asks the network, or parses Go beyond its syntax.
//
// Each family of rules has its own files: manifest*.go for SBX1xx, catalog.go
// for SBX2xx, generated.go for SBX3xx, adapter*.go for SBX4xx, secrets*.go for
// SBX5xx. What a rule means is data, in schema/rules.json.
package gate
