package schema

import (
	"go/token"
	"strings"
)

// PackageName is the name of the Go package that a provider's code is in: its
// ID without hyphens.
func PackageName(id string) string { return strings.ReplaceAll(id, "-", "") }

// BadPackage says in a sentence without a full stop why a provider of this ID
// cannot have a Go package, and returns "" when it can. Everybody who takes an
// ID, by hand or in a form, asks here.
func BadPackage(id string) string {
	pkg := PackageName(id)
	switch {
	case token.IsKeyword(pkg):
		return "the Go package would be called " + pkg + ", which is a keyword"
	case pkg == "init":
		return "the Go package would be called init, which no Go file can import"
	case pkg == "main":
		return "the Go package would be called main, which is a program and cannot be imported"
	case pkg == "documentation":
		return "the Go package would be called documentation, whose files the go command leaves out"
	case id == "internal", id == "vendor", id == "testdata":
		return id + " has a meaning of its own for the go command"
	}
	return ""
}
