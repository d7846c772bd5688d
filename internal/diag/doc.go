// Package diag holds what sbx says about a file: one Diagnostic type, a sorted
// and de-duplicated Set of them that is also an error, and a printer for each
// output format (text, JSON, SARIF 2.1.0, GitHub workflow annotations).
//
// Positions are 1-based. A column counts Unicode code points from the start of
// its line, so a tab and an emoji are one column each. An end position is
// exclusive: it names the column just after the last character. A zero line or
// column means the position is not known, and printers leave it out rather
// than print a zero.
//
// The package imports the standard library only. Printers build their whole
// output before one Write, so a failing writer never leaves half a document
// for a reason of ours.
package diag
