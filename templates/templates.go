// Package templates holds the text/template files for generated output that
// is not Go. Templates stay dumb: every decision is made in the model that
// internal/gen hands them.
package templates

import "embed"

// FS holds every template, named like the file it makes plus ".tmpl".
//
//go:embed provider/*.tmpl reference/*.tmpl
var FS embed.FS
