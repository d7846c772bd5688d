package conformance

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/agentworkforce/sbx/conformance/faults"
	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/sandbox"
)

// pageChecks are about a listing that comes in several pages.
func pageChecks() map[string]proof {
	return map[string]proof{
		"honesty.list-drained":     {run: listDrained, method: "List"},
		"honesty.list-cursor-loop": {run: listCursorLoop, method: "List"},
	}
}

// mostRows is how many sandboxes a check makes for the sake of a second page.
const mostRows = 24

// fillPage makes more sandboxes than a page has rows, or a few where it is not
// known how many those are.
func (t *trial) fillPage(ctx context.Context) ([]*sandbox.Sandbox, error) {
	n := 3
	if page := t.s.h.Page; page > 0 {
		n = page + 1
	}
	if n > mostRows {
		return nil, unknown(NotAttempted, "a page has %d rows, and so many sandboxes are not made", n-1)
	}
	var made []*sandbox.Sandbox
	for range n {
		sb, err := t.create(ctx, sandbox.SkipReady())
		if err != nil {
			return nil, err
		}
		made = append(made, sb)
	}
	return made, nil
}

func listDrained(ctx context.Context, t *trial) error {
	made, err := t.fillPage(ctx)
	if err != nil {
		return err
	}
	if err := settles(ctx, func() error { return t.allListed(ctx, made) }); err != nil {
		return err
	}
	switch {
	case t.s.h.Endpoint.Through != nil:
	case t.s.h.Page > 0:
		return nil
	default:
		return unknown(NotAttempted, "%d sandboxes are all listed; how many rows a page has is not known", len(made))
	}
	b, err := t.stand(ctx)
	if err != nil {
		return err
	}
	if err := b.hasPages(ctx); err != nil {
		return err
	}
	for what, f := range map[string]faults.Fault{
		"an error in the place of its second page": {Only: reading, After: 1, Status: http.StatusInternalServerError, Body: `{"message":"no"}`},
		"half of its second page":                  {Only: reading, After: 1, Cut: true},
		"nothing in the place of its second page":  {Only: reading, After: 1, Status: http.StatusOK},
	} {
		err := b.under(f, func() error {
			if all, err := b.table.List(ctx, contract.ListRequest{}); err == nil {
				return fmt.Errorf("with %s a listing has %d rows and no error", what, len(all))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// hasPages requires that the adapter asks for the listing more than once.
func (b *between) hasPages(ctx context.Context) error {
	b.proxy.Set(faults.Fault{})
	if _, err := b.table.List(ctx, contract.ListRequest{}); err != nil {
		return err
	}
	asked := map[string]int{}
	for _, r := range b.proxy.Seen() {
		if asked[r.Path]++; asked[r.Path] > 1 {
			return nil
		}
	}
	return unknown(NotAttempted, "the whole listing came in one answer, so there is no second page to spoil")
}

// listCursorLoop has the vendor give the first page, with its cursor, for every
// page after it.
func listCursorLoop(ctx context.Context, t *trial) error {
	b, err := t.stand(ctx)
	if err != nil {
		return err
	}
	made, err := t.fillPage(ctx)
	if err != nil {
		return err
	}
	if err := settles(ctx, func() error { return t.allListed(ctx, made) }); err != nil {
		return err
	}
	if err := b.hasPages(ctx); err != nil {
		return err
	}
	return b.under(faults.Fault{Only: reading, Repeat: true}, func() error {
		return promptly(time.Minute, "a listing whose cursor repeats", func() error {
			if all, err := b.table.List(ctx, contract.ListRequest{}); err == nil {
				return fmt.Errorf("a listing whose cursor repeats has %d rows and no error", len(all))
			}
			return nil
		})
	})
}
