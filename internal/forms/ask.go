package forms

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/huh"
)

// Question is one page of a form.
type Question struct {
	Title string // the question
	Help  string // shown below it
	// Options are the only answers there are; empty for free text.
	Options []Option
	// Many tells that any number of options can be chosen, none included.
	Many bool
	// Answer is what the page starts with.
	Answer []string
	// Check says what is wrong with an answer; nil when nothing is.
	Check func(words []string) error
}

// Option is one possible answer.
type Option struct{ Word, Text string }

// StoppedError says that the person left before the end, or the context ended.
type StoppedError struct {
	// Answers are what was answered until then, by question; what was not
	// reached is as it started.
	Answers [][]string
	Err     error // why, nil when the person just left
}

// Error says that the form was left.
func (e *StoppedError) Error() string { return "stopped before the end" }

// Unwrap returns the cause.
func (e *StoppedError) Unwrap() error { return e.Err }

// Review is the last page: what the answers come to, and whether to go on.
type Review struct {
	// Text renders what the answers come to. Its error is shown instead, and
	// then nobody can agree.
	Text func(answers [][]string) (string, error)
	// Agree, Change and Stop are the words of the three choices.
	Agree, Change, Stop string
}

// Ask shows one page for each question, where shift+tab goes back, then the
// review, and returns the answers in order when the person agrees to it.
// Leaving with ctrl+c, choosing to stop and the end of ctx are a *StoppedError.
// In and out are a terminal; Ask must not be called otherwise.
func Ask(ctx context.Context, in io.Reader, out io.Writer, questions []Question, review Review) ([][]string, error) {
	t := terminal{in, out}
	for {
		answers, err := t.ask(ctx, questions)
		if err != nil {
			return nil, err
		}
		choice, err := t.review(ctx, answers, review)
		switch {
		case err != nil:
			return nil, stopped(answers, err)
		case choice == agree:
			return answers, nil
		case choice == stop:
			return nil, &StoppedError{Answers: answers}
		}
		questions = slices.Clone(questions)
		for i := range questions {
			questions[i].Answer = answers[i]
		}
	}
}

type terminal struct {
	in  io.Reader
	out io.Writer
}

// ask shows the pages once.
func (t terminal) ask(ctx context.Context, questions []Question) ([][]string, error) {
	pages := make([]*page, len(questions))
	groups := make([]*huh.Group, len(questions))
	back := false
	for i, q := range questions {
		pages[i] = newPage(q, &back)
		groups[i] = huh.NewGroup(pages[i].field)
	}
	err := t.run(ctx, &back, groups...)
	answers := make([][]string, len(pages))
	for i, p := range pages {
		answers[i] = p.words()
	}
	if err != nil {
		for i, p := range pages {
			if !p.reached { // a choice field chooses its first option before anybody has seen it
				answers[i] = p.question.Answer
			}
		}
		return nil, stopped(answers, err)
	}
	// The form's word is not taken for it.
	for i, q := range questions {
		if err := q.Check(answers[i]); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// leftError says that the person left the form.
type leftError struct{}

func (leftError) Error() string { return "left" }

// run shows a form. It runs the form as what it is, a model, for two reasons:
// so the form can never choose its mode for plain input by itself, and the
// program always ends in order, after its reader has let go of the terminal.
// back is true while the person goes to the page before.
func (t terminal) run(ctx context.Context, back *bool, groups ...*huh.Group) error {
	form := huh.NewForm(groups...).WithTheme(huh.ThemeBase()).WithAccessible(false)
	form.SubmitCmd, form.CancelCmd = tea.Quit, tea.Quit
	program := tea.NewProgram(&typeahead{form: form, back: back}, tea.WithInput(t.in), tea.WithOutput(t.out), tea.WithoutSignalHandler())
	defer context.AfterFunc(ctx, program.Quit)()
	if _, err := program.Run(); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case form.State != huh.StateCompleted:
		return leftError{}
	}
	return nil
}

// The choices of a review.
const (
	agree  = "agree"
	change = "change"
	stop   = "stop"
)

// review prints what the answers come to, where it can be scrolled back to, and
// asks what to do.
func (t terminal) review(ctx context.Context, answers [][]string, r Review) (string, error) {
	choices := []huh.Option[string]{huh.NewOption(r.Agree, agree), huh.NewOption(r.Change, change), huh.NewOption(r.Stop, stop)}
	text, err := r.Text(answers)
	if err != nil {
		text, choices = err.Error(), choices[1:]
	}
	if _, err := io.WriteString(t.out, strings.TrimRight(text, "\n")+"\n\n"); err != nil {
		return "", err
	}
	choice := ""
	err = t.run(ctx, new(bool), huh.NewGroup(huh.NewSelect[string]().Title("What now?").Options(choices...).Value(&choice)))
	return choice, err
}

// stopped tells a person who left from a form that broke.
func stopped(answers [][]string, err error) error {
	if errors.As(err, &leftError{}) {
		err = nil
	}
	return &StoppedError{Answers: answers, Err: err}
}

// page is one question with its field and the value the field writes to.
type page struct {
	question Question
	field    huh.Field
	text     string
	choices  []string
	reached  bool // whether the person has gone on from it once
}

// newPage makes a page. Nothing is asked of an answer while *back is true: the
// library checks a page on every way out of it, and one that is refused on the
// way back can be neither left nor typed in any more.
func newPage(q Question, back *bool) *page {
	p := &page{question: q, choices: slices.Clone(q.Answer)}
	if len(q.Answer) > 0 && !q.Many {
		p.text = q.Answer[0]
	}
	checkAll := func(words []string) error {
		if *back {
			return nil
		}
		p.reached = true
		return q.Check(words)
	}
	check := func(s string) error { return checkAll([]string{s}) }
	switch {
	case q.Many:
		p.field = huh.NewMultiSelect[string]().Title(q.Title).Description(q.Help).Options(options(q.Options)...).
			Validate(checkAll).Value(&p.choices).Height(min(len(q.Options)+4, 14))
	case len(q.Options) > 0:
		p.field = huh.NewSelect[string]().Title(q.Title).Description(q.Help).Options(options(q.Options)...).
			Validate(check).Value(&p.text)
	default:
		p.field = huh.NewInput().Title(q.Title).Description(q.Help).Validate(check).Value(&p.text)
	}
	return p
}

func options(in []Option) []huh.Option[string] {
	width := 0
	for _, o := range in {
		width = max(width, len(o.Word))
	}
	var out []huh.Option[string]
	for _, o := range in {
		label := o.Word
		if o.Text != "" {
			label += strings.Repeat(" ", width-len(o.Word)+2) + o.Text
		}
		out = append(out, huh.NewOption(label, o.Word))
	}
	return out
}

func (p *page) words() []string {
	if p.question.Many {
		// In the order they are offered, however they were chosen.
		var out []string
		for _, o := range p.question.Options {
			if slices.Contains(p.choices, o.Word) {
				out = append(out, o.Word)
			}
		}
		return out
	}
	if text := strings.TrimSpace(p.text); text != "" {
		return []string{text}
	}
	return nil
}
