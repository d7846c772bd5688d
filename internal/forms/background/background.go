// Package background settles what the terminal's background is before the form
// library asks the terminal. It asks whenever a program that can show a form
// starts, also to print its help: the question is then the first thing on the
// screen, and where nothing answers the program stands still for five seconds.
//
// Packages without an order of their own are initialized in that of their
// import paths, so this one is always before the library.
package background

import "github.com/charmbracelet/lipgloss"

var _ = settle()

// settle says dark; forms use the terminal's own colours, which look the same.
func settle() struct{} {
	lipgloss.SetHasDarkBackground(true)
	return struct{}{}
}
