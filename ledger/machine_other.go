//go:build !linux && !darwin && !windows

package ledger

func machineID() string { return "" }

func bootID() string { return "" }
