package tree

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"
)

// assessment is the comparison of a whole plan with a whole tree. Check prints
// it, Apply carries it out.
type assessment struct {
	units  []*unitState
	hashed int
}

// assess renders only the units that need it, or all of them when everything
// is set.
func assess(ctx context.Context, d *disk, plan Plan, everything bool) (*assessment, error) {
	units, hashed, err := scan(ctx, d, plan)
	if err != nil {
		return nil, err
	}
	a := &assessment{units: units, hashed: hashed}
	if err := a.render(ctx, everything); err != nil {
		return nil, err
	}
	planned, err := a.planned()
	if err != nil {
		return nil, err
	}
	for _, s := range units {
		if s.out != nil {
			if err := s.judge(d, remembered(units)); err != nil {
				return nil, err
			}
		}
	}
	for _, s := range units {
		if err := s.judgeOrphans(d, planned); err != nil {
			return nil, err
		}
		if s.out != nil || s.Retired {
			if err := s.judgeLock(); err != nil {
				return nil, err
			}
		}
	}
	return a, a.markObstacles(d)
}

func (a *assessment) render(ctx context.Context, everything bool) error {
	errs := make([]error, len(a.units))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, s := range a.units {
		if s.Retired || (s.fresh && !s.deviates && !everything) {
			continue
		}
		g.Go(func() error {
			out, err := s.Render(ctx)
			if err != nil {
				errs[i] = fmt.Errorf("render %s: %w", s.Dir, err)
				return nil
			}
			s.out = &out
			errs[i] = s.checkOutput(out)
			return nil
		})
	}
	return errors.Join(g.Wait(), errors.Join(errs...))
}

// planned is the set of all paths somebody plans; a unit that was not rendered
// plans what its lock lists.
func (a *assessment) planned() (map[string]bool, error) {
	set := map[string]bool{}
	names := collisions{}
	for _, s := range a.units {
		paths := s.plannedPaths()
		if !s.Retired {
			paths = append(paths, s.lockPath())
		}
		for _, p := range paths {
			if set[p] {
				return nil, &PlanError{Unit: s.Dir, Path: p, Reason: "planned by two units"}
			}
			set[p] = true
			if err := names.add(p); err != nil {
				return nil, err
			}
		}
	}
	for _, s := range a.units { // on some systems deleting the orphan would delete the new file
		for rel := range s.old.Owned {
			if p := s.abs(rel); s.sums[p] != "" && !set[p] {
				if twin := names[fold(p)]; twin != "" && twin != p {
					return nil, &PlanError{Unit: s.Dir, Path: twin, Reason: fmt.Sprintf("differs from the orphan %s only by letter case; delete that first", p)}
				}
			}
		}
	}
	return set, nil
}

func (s *unitState) plannedPaths() []string {
	switch {
	case s.Retired:
		return nil
	case s.out != nil:
		return s.out.paths()
	}
	set := map[string]bool{}
	for _, section := range []map[string]string{s.old.Owned, s.old.Blocks, s.old.Scaffold, s.old.Appended} {
		for key := range section {
			rel, _, _ := strings.Cut(key, "#")
			set[s.abs(rel)] = true
		}
	}
	return sortedKeys(set)
}
