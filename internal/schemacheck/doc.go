// Package schemacheck checks manifests and catalog entries against their JSON
// Schema and says what is wrong in words, at the place where it is wrong.
//
// Whether a document is valid is decided by jsonschema/v5. Because compiling a
// schema and validating with it is most of the cost of a run, a Checker first
// walks the document along the schema itself: what this walk accepts, v5
// accepts as well (a fuzz target compares them), and v5 is compiled only for a
// document that the walk does not accept.
//
// Every failure v5 reports becomes a Finding of its own Kind. Which one is told
// from the locations of the keyword and of the value, never from the wording of
// a message.
package schemacheck
