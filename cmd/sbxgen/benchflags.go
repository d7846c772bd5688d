package main

import (
	"os"
	"path/filepath"

	"github.com/agentworkforce/sbx/bench"
)

// check refuses what can be seen to be wrong before anything is built.
func (f benchFlags) check() error {
	if f.samples < 1 {
		return usagef("--samples %d: at least one is needed", f.samples)
	}
	if err := checkCeiling(f.ceiling); err != nil {
		return err
	}
	if f.json != "-" {
		if err := checkOutput("--json", f.json); err != nil {
			return err
		}
	}
	return checkOutput("--svg", f.svg)
}

// checkCeiling accepts amounts of money; 0 is no ceiling.
func checkCeiling(usd float64) error {
	if !(usd >= 0) {
		return usagef("--max-cost-usd %v: an amount of 0 or more, where 0 is no ceiling", usd)
	}
	return nil
}

// checkOutput refuses a file that cannot be made where it is asked for.
func checkOutput(flag, name string) error {
	if name == "" {
		return nil
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return usagef("%s %s: this is a folder; give the name of a file", flag, name)
	}
	folder, err := os.Stat(filepath.Dir(name))
	if err != nil || !folder.IsDir() {
		return usagef("%s %s: there is no folder %s", flag, name, filepath.Dir(name))
	}
	return nil
}

// givenArtifact reads the artifact that a flag names, nil when it names none.
func givenArtifact(flag, name string) (*bench.Artifact, error) {
	if name == "" {
		return nil, nil
	}
	a, err := readArtifact(name)
	if err != nil {
		return nil, usagef("%s %s: no artifact of a benchmark: %w", flag, name, err)
	}
	return a, nil
}
