//go:build !linux

package main

// lookAt looks at nothing: this system shows no process's environment to others.
// The control is then not among those that the report names.
func lookAt(int, string, string) (found []string, looked []int) { return nil, nil }

func selfCheck(string) error { return nil }
