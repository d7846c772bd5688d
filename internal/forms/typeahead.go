package forms

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/huh"

	_ "github.com/agentworkforce/sbx/internal/forms/background" // before the library asks
)

// settleTime is how long keys are held back for a page that does not change.
const settleTime = 100 * time.Millisecond

// typeahead is a form that keys are not lost in. The library goes to the next
// page some time after the key that asks for it; what is typed until then, by a
// quick person or a program, would end up on the old page. Here it waits.
type typeahead struct {
	form    *huh.Form
	back    *bool // whether the last key asked for the page before
	sized   bool  // whether the size of the terminal is known
	queue   []tea.KeyMsg
	waiting bool
	from    huh.Field // the page that is being left
	moves   int       // how many pages were asked for
}

// settled ends the wait for the page that was asked for as number move.
type settled struct{ move int }

// Init starts the form.
func (t *typeahead) Init() tea.Cmd { return t.form.Init() }

// View shows the form, once it is known how wide it may be: lines that are wider
// than the terminal take two rows, of which the second is never wiped.
func (t *typeahead) View() string {
	if !t.sized {
		return ""
	}
	return t.form.View()
}

// Update passes a message on, keys in their turn.
func (t *typeahead) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyMsg:
		if t.waiting && msg.Type != tea.KeyCtrlC {
			t.queue = append(t.queue, msg)
			return t, nil
		}
		return t, t.key(msg)
	case tea.WindowSizeMsg:
		t.sized = true
	case settled:
		if msg.move == t.moves {
			t.waiting = false
		}
		return t, t.drain()
	}
	cmd := t.pass(msg)
	return t, tea.Batch(cmd, t.drain())
}

func (t *typeahead) pass(msg tea.Msg) tea.Cmd {
	model, cmd := t.form.Update(msg)
	if form, ok := model.(*huh.Form); ok {
		t.form = form
	}
	return cmd
}

func (t *typeahead) key(msg tea.KeyMsg) tea.Cmd {
	from := t.form.GetFocusedField()
	t.sized = true // nobody types at nothing
	*t.back = msg.Type == tea.KeyShiftTab
	cmd := t.pass(msg)
	switch msg.Type {
	case tea.KeyEnter, tea.KeyTab, tea.KeyShiftTab:
		t.waiting, t.from = true, from
		t.moves++
		move := t.moves
		cmd = tea.Batch(cmd, tea.Tick(settleTime, func(time.Time) tea.Msg { return settled{move} }))
	}
	return cmd
}

// drain passes on the keys that have waited, as far as they can go.
func (t *typeahead) drain() tea.Cmd {
	var cmds []tea.Cmd
	for {
		if t.waiting && (t.form.State != huh.StateNormal || t.form.GetFocusedField() != t.from || t.from.Error() != nil) {
			t.waiting = false
		}
		if t.waiting || len(t.queue) == 0 {
			return tea.Batch(cmds...)
		}
		next := t.queue[0]
		t.queue = t.queue[1:]
		cmds = append(cmds, t.key(next))
	}
}
