package wire

import (
	"context"
	"fmt"

	"github.com/agentworkforce/sbx/port"
)

// DrainOptions bound a listing. The zero value is useful.
type DrainOptions[T any] struct {
	Op string // for errors; "" means "List"
	// Key identifies an item; items with a key seen before are left out, because
	// pages shift while they are read. An item with an empty key is malformed.
	// nil keeps every item.
	Key func(T) string
	// MaxPages is the most pages read before giving up; 0 means 1000.
	MaxPages int
	// MaxEmpty is the most pages in a row that may hold nothing new and still
	// name a next one; 0 means 10.
	MaxEmpty int
}

// Drain reads a listing to its end, from an empty cursor until fetch answers
// an empty next. It returns everything or an error, never a part: a short list
// looks like a complete one, and what is missing from it would be created
// again or never cleaned up.
//
// Errors of fetch are passed on as they are. A repeated cursor, too many pages,
// an endless run of empty pages or an item without key is CodeProvider.
func Drain[T any](ctx context.Context, fetch func(ctx context.Context, cursor string) (items []T, next string, err error), opts DrainOptions[T]) ([]T, error) {
	d := drain[T]{opts: opts, cursors: map[string]bool{}, keys: map[string]bool{}, out: []T{}}
	if d.opts.Op == "" {
		d.opts.Op = "List"
	}
	if d.opts.MaxPages <= 0 {
		d.opts.MaxPages = 1000
	}
	if d.opts.MaxEmpty <= 0 {
		d.opts.MaxEmpty = 10
	}
	cursor := ""
	for page := 1; ; page++ {
		if err := ContextError(ctx, d.opts.Op, port.OutcomeUnchanged); err != nil {
			return nil, err
		}
		items, next, err := fetch(ctx, cursor)
		if err != nil {
			return nil, err
		}
		if err := d.take(items, next, page); err != nil {
			return nil, err
		}
		if next == "" {
			return d.out, nil
		}
		cursor = next
	}
}

type drain[T any] struct {
	opts    DrainOptions[T]
	cursors map[string]bool
	keys    map[string]bool
	out     []T
	empty   int
}

func (d *drain[T]) take(items []T, next string, page int) error {
	before := len(d.out)
	for _, it := range items {
		if d.opts.Key != nil {
			k := d.opts.Key(it)
			if k == "" {
				return d.broken("page %d has an item without identity", page)
			}
			if d.keys[k] {
				continue
			}
			d.keys[k] = true
		}
		d.out = append(d.out, it)
	}
	if next == "" {
		return nil
	}
	if d.empty++; len(d.out) > before {
		d.empty = 0
	}
	switch {
	case d.cursors[next]:
		return d.broken("page %d repeats a cursor", page)
	case d.empty > d.opts.MaxEmpty:
		return d.broken("%d pages in a row hold nothing new", d.empty)
	case page >= d.opts.MaxPages:
		return d.broken("there are more than %d pages", d.opts.MaxPages)
	}
	d.cursors[next] = true
	return nil
}

func (d *drain[T]) broken(format string, args ...any) error {
	return &port.Error{Code: port.CodeProvider, Op: d.opts.Op, Outcome: port.OutcomeUnchanged,
		Reason: "the listing cannot be read to a trustworthy end: " + fmt.Sprintf(format, args...)}
}
