package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// printMachine says where and with what the figures came about. What cannot be
// told here is unknown.
func printMachine(ctx context.Context, b *bench, out io.Writer) {
	say := func(what, value string) {
		if value == "" {
			value = "unknown"
		}
		fmt.Fprintf(out, "%-10s %s\n", what, value)
	}
	say("date", time.Now().UTC().Format("2006-01-02 15:04 UTC"))
	say("processor", fmt.Sprintf("%s, %d to run on", orUnknown(field("/proc/cpuinfo", "model name")), runtime.NumCPU()))
	say("memory", field("/proc/meminfo", "MemTotal"))
	say("kernel", firstLine(ctx, "", "uname", "-sr"))
	say("load", head("/proc/loadavg"))
	say("go", runtime.Version())
	say("sbx", firstLine(ctx, b.checkout, "git", "describe", "--always", "--dirty"))
	versions, err := os.ReadFile(filepath.Join(b.peers.dir, "versions"))
	if err != nil {
		say("peers", "")
	}
	for line := range strings.Lines(string(versions)) {
		say("peer", strings.TrimSpace(line))
	}
	fmt.Fprintln(out)
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// field is the value of "key : value" in a file, empty when it is not there.
func field(file, key string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func head(file string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func firstLine(ctx context.Context, dir, program string, args ...string) string {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line)
}
