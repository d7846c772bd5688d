package sandbox

import (
	"context"

	"github.com/agentworkforce/sbx/port"
)

// knownScope makes sure that asking for the scope is never answered with "not
// found". Where that answer comes from, nobody knows whose account or engine
// it is; about a sandbox it would read as if the sandbox were gone.
func knownScope(scope func(context.Context) (string, error)) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		id, err := scope(ctx)
		if port.CodeOf(err) != port.CodeNotFound {
			return id, err
		}
		return "", &Error{Code: port.CodeUnavailable, Op: "Scope", Outcome: port.OutcomeUnchanged,
			Reason: "whose account or engine this is cannot be read: " + err.Error()}
	}
}
