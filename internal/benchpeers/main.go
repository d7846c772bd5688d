// Command benchpeers measures the speed goals of this project beside other
// programs that do the same work, and prints one line per goal. Every ratio is
// taken between runs of one sitting, turn by turn, so that it says something on
// a machine that is slow, busy or different.
//
// scripts/bench-peers.sh installs the peers and runs it. It exits 0 when
// everything could be measured, whether goals are met or not, 1 when a
// measurement failed, 2 when it was called wrongly.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// work is a group of rows that are measured together.
type work struct {
	name    string
	measure func(context.Context, *bench) ([]row, error)
}

func works() []work {
	return []work{
		{"validate-cold", validateCold},
		{"validate-warm", validateWarm},
		{"validate-one", validateOne},
		{"generate", generateCold},
		{"check", generateCheck},
		{"new", newProvider},
		{"docker-life", dockerLife},
		{"docker-exec", dockerExec},
		{"docker-run", dockerRun},
		{"conformance", dockerConformance},
	}
}

// bench is what every work needs.
type bench struct {
	peers    peers
	checkout string // root of this module
	sbxgen   string // the built command
	dir      string // temporary, empty at the start
	rounds   int
	log      io.Writer
}

func run(ctx context.Context, args []string, out, log io.Writer) int {
	flags := flag.NewFlagSet("benchpeers", flag.ContinueOnError)
	flags.SetOutput(log)
	var (
		peersDir = flags.String("peers", "", "folder with the peers and with sbxgen in bin/")
		checkout = flags.String("checkout", ".", "root of this module")
		only     = flags.String("run", "", "measure only the works that match")
		rounds   = flags.Int("n", 5, "counted runs of each program")
	)
	if err := flags.Parse(args); err != nil {
		return 2
	}
	match, err := regexp.Compile(*only)
	if err != nil || *peersDir == "" || *rounds < 1 || flags.NArg() > 0 {
		fmt.Fprintln(log, "benchpeers: give -peers DIR, -n of at least 1, and a regular expression to -run", errors.Join(err))
		return 2
	}
	b := &bench{peers: peers{*peersDir}, rounds: *rounds, log: log}
	if err := measureAll(ctx, b, *checkout, match, out); err != nil {
		fmt.Fprintf(log, "benchpeers: %v\n", err)
		return 1
	}
	return 0
}

// measureAll measures what matches, one work at a time, and prints all rows at
// the end. A work that fails does not stop the others.
func measureAll(ctx context.Context, b *bench, checkout string, match *regexp.Regexp, out io.Writer) (err error) {
	if b.checkout, err = filepath.Abs(checkout); err != nil {
		return err
	}
	if b.peers.dir, err = filepath.Abs(b.peers.dir); err != nil {
		return err
	}
	b.sbxgen = b.peers.path("sbxgen")
	temp, err := os.MkdirTemp("", "sbx-bench-peers-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()

	printMachine(ctx, b, out)
	var rows []row
	var failed []error
	for _, w := range works() {
		if !match.MatchString(w.name) {
			continue
		}
		fmt.Fprintf(b.log, "measuring %s\n", w.name)
		b.dir = filepath.Join(temp, w.name)
		if err := os.Mkdir(b.dir, 0o755); err != nil {
			return err
		}
		got, err := w.measure(ctx, b)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", w.name, err))
		}
		rows = append(rows, got...)
	}
	printRows(out, rows)
	return errors.Join(failed...)
}
