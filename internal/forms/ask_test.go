package forms_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/internal/forms"
	"github.com/agentworkforce/sbx/internal/forms/formtest"
)

type outcome struct {
	answers [][]string
	err     error
}

func questions() []forms.Question {
	needed := func(words []string) error {
		if strings.Join(words, "") == "" {
			return errors.New("an answer is needed")
		}
		return nil
	}
	return []forms.Question{
		{Title: "What is it called?", Help: "A word.", Check: needed},
		{Title: "How is it driven?", Options: []forms.Option{{Word: "native", Text: "by Go"}, {Word: "none"}}, Check: needed},
		{Title: "What can it do?", Many: true, Options: []forms.Option{{Word: "files"}, {Word: "stop"}, {Word: "pty"}},
			Check: func([]string) error { return nil }},
	}
}

func ask(t *testing.T, ctx context.Context, qs []forms.Question) (*formtest.Person, <-chan outcome) {
	t.Helper()
	p := formtest.Sit(t)
	done := make(chan outcome, 1)
	review := forms.Review{Agree: "Write it", Change: "Change an answer", Stop: "Stop here",
		Text: func(answers [][]string) (string, error) {
			if slices.Contains(answers[0], "bad") {
				return "", errors.New("these do not go together")
			}
			return "it comes to " + strings.Join(slices.Concat(answers...), "+"), nil
		}}
	go func() {
		answers, err := forms.Ask(ctx, p.TTY, p.TTY, qs, review)
		done <- outcome{answers, err}
	}()
	return p, done
}

func TestAskBackAndChange(t *testing.T) {
	p, done := ask(t, context.Background(), questions())
	p.Sees("What is it called?")
	p.Types(formtest.Enter)
	p.Sees("an answer is needed")
	p.Types("acm", formtest.Enter)
	p.Sees("How is it driven?")
	p.Types(formtest.Back)
	p.Sees("What is it called?")
	p.Types("e", formtest.Enter)
	p.Sees("How is it driven?")
	p.Types(formtest.Enter)
	p.Sees("What can it do?")
	p.Types(formtest.Down, formtest.Down, "x", formtest.Enter)
	p.Sees("it comes to acme+native+pty")
	p.Sees("What now?")
	p.Types(formtest.Down, formtest.Enter)
	p.Sees("What is it called?")
	p.Types("2", formtest.Enter)
	p.Sees("How is it driven?")
	p.Types(formtest.Down, formtest.Enter)
	p.Sees("What can it do?")
	p.Types("x", formtest.Enter)
	p.Sees("it comes to acme2+none+files+pty")
	p.Sees("What now?")
	p.Types(formtest.Enter)
	got := <-done
	require.NoError(t, got.err)
	require.Equal(t, [][]string{{"acme2"}, {"none"}, {"files", "pty"}}, got.answers)
}

// Somebody who goes back to look need not have an answer yet.
func TestBackWithoutAnAnswer(t *testing.T) {
	qs := questions()
	qs = append([]forms.Question{qs[0], {Title: "What is it for?", Help: "A word.", Check: qs[0].Check}}, qs[1:]...)
	p, done := ask(t, context.Background(), qs)
	p.Sees("What is it called?")
	p.Types("acm", formtest.Enter)
	p.Sees("What is it for?")
	p.Types(formtest.Back)
	p.Sees("What is it called?")
	p.Types("e", formtest.Enter)
	p.Sees("What is it for?")
	p.Types(formtest.Enter)
	p.Sees("an answer is needed")
	p.Types(formtest.Back)
	p.Sees("What is it called?")
	p.Types(formtest.Enter)
	p.Sees("What is it for?")
	p.Types("fun", formtest.Enter)
	p.Sees("How is it driven?")
	p.Types(formtest.Enter)
	p.Sees("What can it do?")
	p.Types(formtest.Enter)
	p.Sees("it comes to acme+fun+native")
	p.Sees("What now?")
	p.Types(formtest.Enter)
	got := <-done
	require.NoError(t, got.err)
	require.Equal(t, [][]string{{"acme"}, {"fun"}, {"native"}, nil}, got.answers)
}

// Keys that come faster than the pages change are not lost and not misplaced.
func TestTypingAhead(t *testing.T) {
	p, done := ask(t, context.Background(), questions())
	p.Sees("What is it called?")
	p.Types(formtest.Enter + "acm" + formtest.Enter + formtest.Back + "e" + formtest.Enter + formtest.Down + formtest.Enter +
		"x" + formtest.Down + "x" + formtest.Enter)
	p.Sees("it comes to acme+none+files+stop")
	p.Sees("What now?")
	p.Types(formtest.Enter)
	got := <-done
	require.NoError(t, got.err)
	require.Equal(t, [][]string{{"acme"}, {"none"}, {"files", "stop"}}, got.answers)
}

func TestLeavingKeepsAnswers(t *testing.T) {
	p, done := ask(t, context.Background(), questions())
	p.Sees("What is it called?")
	p.Types("acme", formtest.Enter)
	p.Sees("How is it driven?")
	p.Types(formtest.CtrlC)
	got := <-done
	var left *forms.StoppedError
	require.ErrorAs(t, got.err, &left)
	require.NoError(t, left.Err)
	require.Equal(t, []string{"acme"}, left.Answers[0])
}

func TestNobodyAgreesToAnError(t *testing.T) {
	p, done := ask(t, context.Background(), questions()[:1])
	p.Sees("What is it called?")
	p.Types("bad", formtest.Enter)
	p.Sees("these do not go together")
	p.Sees("Change an answer")
	p.Types(formtest.Down, formtest.Enter)
	got := <-done
	var left *forms.StoppedError
	require.ErrorAs(t, got.err, &left)
	require.Equal(t, [][]string{{"bad"}}, left.Answers)
}

func TestContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p, done := ask(t, ctx, questions())
	p.Sees("What is it called?")
	cancel()
	got := <-done
	require.ErrorIs(t, got.err, context.Canceled)
	var left *forms.StoppedError
	require.ErrorAs(t, got.err, &left)
}
