package conformance

import "context"

// CheckOf is the ID of the check that a call to the adapter belongs to; "" is none.
func CheckOf(ctx context.Context) string {
	if t, ok := ctx.Value(trialKey{}).(*trial); ok {
		return t.id
	}
	return ""
}
