package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/term"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/forms"
	"github.com/agentworkforce/sbx/internal/gen"
	"github.com/agentworkforce/sbx/ledger"
)

// onTerminal reports whether a person can be asked: both ends are a terminal
// that can do more than print lines.
func onTerminal(s streams) bool {
	in, inOK := s.in.(*os.File)
	out, outOK := s.out.(*os.File)
	return inOK && outOK && term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd())) && s.getenv("TERM") != "dumb"
}

// ask asks what is not answered yet; all of it again, with the answers there are,
// when a session that was left goes on. When the person leaves, the answers are
// kept for --resume: names and words only, for no question asks for a secret.
func ask(ctx context.Context, s streams, site *gen.Site, draft *gen.Draft, again bool, resume string) error {
	var open []gen.Question
	var pages []forms.Question
	for _, q := range draft.Questions() {
		if again || !draft.Answered(q) {
			open = append(open, q)
			pages = append(pages, formPage(draft, q))
		}
	}
	review := forms.Review{Agree: "Write it", Change: "Change an answer", Stop: "Stop, and keep the answers",
		Text: func(answers [][]string) (string, error) { return reviewText(site, draft, open, answers) }}
	answers, err := forms.Ask(ctx, s.in, s.out, pages, review)
	var left *forms.StoppedError
	if errors.As(err, &left) {
		return errors.Join(keepAnswers(s, draft, open, left.Answers, resume), left.Err)
	}
	if err != nil {
		return err
	}
	return asUsage(give(draft, open, answers))
}

func formPage(draft *gen.Draft, q gen.Question) forms.Question {
	page := forms.Question{Title: q.Text, Help: q.Help, Many: q.Many, Answer: draft.Current(q), Check: func(words []string) error {
		err := draft.Check(q, words...)
		var refused *gen.AnswerError
		if errors.As(err, &refused) {
			return errors.New(refused.Reason)
		}
		return err
	}}
	if len(page.Answer) == 0 && q.Default != "" {
		page.Answer = []string{q.Default}
	}
	for _, o := range q.Options {
		page.Options = append(page.Options, forms.Option{Word: o.Word, Text: o.Text})
	}
	return page
}

func give(draft *gen.Draft, open []gen.Question, answers [][]string) error {
	for i, q := range open {
		if err := draft.Answer(q, answers[i]...); err != nil {
			return err
		}
	}
	return nil
}

// reviewText is the manifest that the answers come to, or what is wrong with it.
func reviewText(site *gen.Site, draft *gen.Draft, open []gen.Question, answers [][]string) (string, error) {
	if err := give(draft, open, answers); err != nil {
		return "", err
	}
	dir := "providers/" + draft.ID()
	if site.Dir != "" {
		rel, err := filepath.Rel(site.Project.Root, site.Dir)
		if err != nil {
			return "", err
		}
		dir = filepath.ToSlash(rel)
	}
	text, found, err := draft.Manifest(dir)
	if err != nil {
		return "", err
	}
	if len(found) > 0 {
		var set diag.Set
		set.Add(found...)
		return "", fmt.Errorf("this is no manifest yet; --from can give what no question asks for:\n%w", &set)
	}
	return dir + "/" + gen.ManifestName + ":\n\n" + string(text), nil
}

// answersFile is where the answers of a session that was left are kept.
func answersFile(s streams) (string, error) {
	dirs, err := ledger.StateDir(s.getenv)
	if err != nil {
		return "", err
	}
	return dirs.Path("new-provider.yaml"), nil
}

// keepAnswers saves what can stand in a manifest and says how to go on: with the
// command resume.
func keepAnswers(s streams, draft *gen.Draft, open []gen.Question, answers [][]string, resume string) error {
	for i, q := range open {
		if draft.Check(q, answers[i]...) == nil && len(answers[i]) > 0 {
			if err := draft.Answer(q, answers[i]...); err != nil {
				return err
			}
		}
	}
	if len(draft.Answers()) == 0 {
		return usagef("stopped; nothing was answered and nothing was made")
	}
	if err := saveAnswers(s, draft); err != nil {
		return err
	}
	return usagef("stopped; nothing was made. The answers are kept: %s", resume)
}

// saveAnswers keeps the answers for --resume, readable by their owner only.
func saveAnswers(s streams, draft *gen.Draft) error {
	path, err := answersFile(s)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, draft.Answers(), 0o600)
}

// forgetAnswers removes kept answers once they have been used.
func forgetAnswers(s streams) error {
	path, err := answersFile(s)
	if err != nil {
		return err
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
