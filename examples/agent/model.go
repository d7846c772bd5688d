package main

import (
	"context"
	"fmt"
)

// call is one tool the model asks for, turn what it says at once.
type call struct{ Tool, Path, Content, Command string }
type turn struct {
	After, Say string
	Calls      []call
}

// model answers what came of its last calls with its next turn.
type model func(ctx context.Context, results []string) (turn, error)

// scripted plays turns in order. A turn with "after" insists on what the last
// call came to, so the script is not deaf.
func scripted(turns []turn) model {
	return func(_ context.Context, results []string) (turn, error) {
		if len(turns) == 0 {
			return turn{}, nil
		}
		next := turns[0]
		turns = turns[1:]
		if n := len(results); next.After != "" && (n == 0 || results[n-1] != next.After) {
			return turn{}, fmt.Errorf("the script expects %q, not %q", next.After, results)
		}
		return next, nil
	}
}
