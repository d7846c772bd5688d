package tree

import (
	"context"
	"errors"
)

// Recover completes an interrupted Apply on the tree at root, as the next Apply
// would before anything else, and reports whether there was one. It is for
// callers who have to see the tree as it will be before they can plan. A tree
// without an interrupted run is not touched.
func Recover(ctx context.Context, root string) (recovered bool, err error) {
	if err := checkRoot(root); err != nil {
		return false, err
	}
	var result Result
	w := &writer{disk: newDisk(root), result: &result, touched: map[string]bool{}}
	if f, err := interrupted(w.disk); err != nil || f == nil {
		return false, err
	}
	unlock, err := w.lock(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	err = w.recover()
	return result.Recovered, err
}
