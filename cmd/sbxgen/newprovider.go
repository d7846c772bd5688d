package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentworkforce/sbx/internal/gen"
	"github.com/agentworkforce/sbx/internal/gen/tree"
	"github.com/agentworkforce/sbx/internal/yamldoc"
)

func runNewProvider(cmd *cobra.Command, s streams, flags newProviderFlags, questions []gen.Question) error {
	ctx := cmd.Context()
	from, err := startFolder(cmd)
	if err != nil {
		return err
	}
	site, found, err := gen.FindSite(ctx, gen.Place{From: from, Dir: flags.dir, Module: flags.module, Replace: flags.replace, ReadOnly: flags.dryRun})
	if err != nil {
		return asUsage(err)
	}
	// Mistakes of other providers are theirs to put right.
	if err := printFindings(s.err, site.Project.InTheWay(found), site.Project.Root); err != nil {
		return err
	}
	draft, err := site.Project.NewDraft()
	if err != nil {
		return err
	}
	if err := readAnswers(ctx, s, draft, flags, from); err != nil {
		return err
	}
	if err := takeFlags(cmd, draft); err != nil {
		return asUsage(err)
	}
	missing := draft.Missing()
	terminal := onTerminal(s)
	switch {
	case flags.resume && terminal: // the session goes on, whatever it has got so far
	case len(missing) == 0:
		return makeProvider(ctx, s, site, draft, flags, from)
	case !terminal:
		return usagef("%s", missingAnswers(missing))
	}
	if err := ask(ctx, s, site, draft, flags.resume, resumeCommand(cmd)); err != nil {
		return err
	}
	if err := makeProvider(ctx, s, site, draft, flags, from); err != nil {
		return errors.Join(err, saveAnswers(s, draft))
	}
	return nil
}

// makeProvider writes what the draft describes. Answers that were kept for
// --resume have then served.
func makeProvider(ctx context.Context, s streams, site *gen.Site, draft *gen.Draft, flags newProviderFlags, folder string) error {
	scaffold, found, err := site.Scaffold(draft)
	if err != nil {
		return asUsage(err)
	}
	if err := printFindings(s.err, found, folder); err != nil {
		return err
	}
	if err := writeProvider(ctx, s, scaffold, folder, flags.dryRun); err != nil {
		return err
	}
	if flags.resume && !flags.dryRun {
		return forgetAnswers(s)
	}
	return nil
}

// asUsage marks what the caller can put right by calling differently.
func asUsage(err error) error {
	var answer *gen.AnswerError
	var place *gen.PlaceError
	if errors.As(err, &answer) || errors.As(err, &place) {
		return usageError{err}
	}
	return err
}

// reader is standard input, which a person at a terminal may never end: a read
// ends with ctx, too.
type reader struct {
	ctx context.Context
	in  io.Reader
}

// Read reads once.
func (r reader) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	b := make([]byte, len(p)) // p is the caller's again when ctx has ended
	go func() {
		n, err := r.in.Read(b)
		done <- result{n, err}
	}()
	select {
	case got := <-done:
		return copy(p, b[:got.n]), got.err
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	}
}

func startFolder(cmd *cobra.Command) (string, error) {
	dir, err := cmd.Flags().GetString("chdir")
	if err != nil {
		return "", err
	}
	return filepath.Abs(dir)
}

// readAnswers takes the answers of --from or --resume.
func readAnswers(ctx context.Context, s streams, draft *gen.Draft, flags newProviderFlags, folder string) (err error) {
	name, in := flags.from, io.Reader(reader{ctx, s.in})
	switch {
	case flags.resume:
		path, err := answersFile(s)
		if err != nil {
			return err
		}
		name = path
	case name == "":
		return nil
	}
	if name != "-" {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(folder, path)
		}
		f, err := openRegular(path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && flags.resume:
			return usagef("no session was left; there is nothing to resume")
		case err != nil && flags.resume:
			return usageError{err}
		case errors.Is(err, yamldoc.ErrNotRegular):
			return usagef("--from: %w; - reads standard input", err)
		case err != nil:
			return usagef("--from: %w", err)
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		in = f
	}
	src, err := io.ReadAll(io.LimitReader(in, yamldoc.MaxBytes+1)) // one more is enough to refuse it
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	doc, found := yamldoc.Parse(filepath.ToSlash(name), src)
	if doc != nil && len(found) == 0 {
		if found, err = draft.Read(doc); err != nil {
			return err
		}
	}
	return printFindingsIn(s.err, found, func(string) []byte { return src }) // reading again could give something else
}

// takeFlags takes the answers given as flags and argument.
func takeFlags(cmd *cobra.Command, draft *gen.Draft) error {
	flags := cmd.Flags()
	for _, q := range draft.Questions() {
		var words []string
		switch {
		case q.Flag == "":
			if words = flags.Args(); len(words) == 0 {
				continue
			}
		case !flags.Changed(q.Flag):
			continue
		case q.Many:
			var err error
			if words, err = flags.GetStringSlice(q.Flag); err != nil {
				return err
			}
		default:
			word, err := flags.GetString(q.Flag)
			if err != nil {
				return err
			}
			words = []string{word}
		}
		if err := draft.Answer(q, words...); err != nil {
			return err
		}
	}
	return nil
}

func missingAnswers(missing []gen.Question) string {
	var names, flags []string
	for _, q := range missing {
		names = append(names, strings.ToLower(q.Title))
		if q.Flag == "" {
			names[len(names)-1] = q.Title
			flags = append(flags, "the ID as argument")
			continue
		}
		flags = append(flags, "--"+q.Flag)
	}
	return "not answered: " + strings.Join(names, ", ") + "\nThere is no terminal to ask in, so nothing was made. Give " +
		strings.Join(flags, ", ") + ", or --from FILE (- for standard input) with a manifest, whole or in part."
}

// writeProvider writes the provider in one step and says what to do next.
func writeProvider(ctx context.Context, s streams, sc *gen.Scaffold, folder string, dryRun bool) error {
	root := sc.Project.Root
	made, err := makeRoot(root, dryRun)
	if err != nil {
		return err
	}
	defer made.undoIfEmpty()
	result, err := tree.Apply(ctx, made.root, sc.Plan, tree.Options{DryRun: dryRun})
	var refused *tree.RefusedError
	if errors.As(err, &refused) {
		for _, f := range refused.Findings {
			fmt.Fprintln(s.err, f.String())
		}
		fmt.Fprintln(s.err, "nothing was written")
		return findingsError{}
	}
	if err != nil {
		return err
	}
	if sc.Alone {
		fmt.Fprintln(s.err, "what lists all providers is left as it is: put right what sbxgen validate finds in others, then run sbxgen generate")
	}
	switch {
	case dryRun:
		return printDryRun(s.out, sc, result)
	case sc.Exists && len(result.Created)+len(result.Written)+len(result.Removed) == 0:
		_, err = fmt.Fprintf(s.out, "%s is this very provider already; nothing to do\n", sc.Dir)
		return err
	}
	return printMade(s.out, sc, result, folder)
}

// madeRoot is the module's folder, which a new module may not have yet.
type madeRoot struct {
	root string
	made []string // folders that were made, innermost first
}

// makeRoot makes the module's folder. For a dry run it is a temporary one.
func makeRoot(root string, dryRun bool) (*madeRoot, error) {
	if _, err := os.Stat(root); err == nil {
		return &madeRoot{root: root}, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if dryRun {
		tmp, err := os.MkdirTemp("", "sbxgen")
		return &madeRoot{root: tmp, made: []string{tmp}}, err
	}
	m := &madeRoot{root: root}
	for dir := root; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		m.made = append(m.made, dir)
	}
	return m, os.MkdirAll(root, 0o755)
}

// undoIfEmpty removes the folders that were made and stayed empty. One that is
// not empty stays, which is what its removal failing means.
func (m *madeRoot) undoIfEmpty() {
	for _, dir := range m.made {
		if os.Remove(dir) != nil {
			return
		}
	}
}
