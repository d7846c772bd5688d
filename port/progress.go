package port

import "context"

// Progress is one step of a long operation, such as pulling an image during
// Create. Fields that are not known are left at their zero value; Total 0
// means the total is not known.
type Progress struct {
	Phase   string // stable word: "pull", "create", "start", "commit", ...
	Detail  string // what is being worked on, safe to show: a layer, a path
	Current int64  // bytes (or items) done
	Total   int64  // bytes (or items) in all
}

type progressKey struct{}

// WithProgress returns a context whose operations report their steps to fn.
// fn may be called from several goroutines and must return quickly.
func WithProgress(ctx context.Context, fn func(Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, fn)
}

// ReportProgress tells the caller of the current operation how far it is. It
// does nothing when nobody asked.
func ReportProgress(ctx context.Context, p Progress) {
	if fn, ok := ctx.Value(progressKey{}).(func(Progress)); ok && fn != nil {
		fn(p)
	}
}
