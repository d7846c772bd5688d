package ledger

import "strings"

// apply moves the entry as r says, where that is legal, and otherwise says why it
// is not. Evidence that something exists is always believed, proof that it is gone
// only in its place.
func (e *Entry) apply(r *Record) string {
	switch r.Event {
	case EventIntent:
		return ""
	case EventCreated:
		return e.created(r)
	case EventCreateFailed:
		if e.Status != StatusIntended {
			return e.illegal(r)
		}
		e.Status = StatusCreateFailed
	case EventAdopted, EventRecovered:
		return e.takenOver(r)
	case EventObserved:
		return e.observed(r)
	case EventDispositionChanged:
		if e.Status.Settled() {
			return e.illegal(r)
		}
	case EventDestroyRequested, EventDestroyed, EventDestroyFailed, EventVerifiedGone:
		return e.destroying(r)
	case EventLeaked:
		if e.Status.Settled() {
			return e.illegal(r)
		}
		e.Status = StatusLeaked
	case EventTransferred:
		if e.Status != StatusCreated && e.Status != StatusLeaked {
			return e.illegal(r)
		}
		e.Status = StatusTransferred
	default:
		return e.step(r)
	}
	return ""
}

func (e *Entry) illegal(r *Record) string {
	return string(r.Event) + " does not follow from " + string(e.Status)
}

func (e *Entry) created(r *Record) string {
	problem := ""
	if e.Status != StatusIntended {
		problem = e.illegal(r)
	}
	first := !e.Created
	e.Created = true
	if e.Status == StatusIntended || e.Status == StatusCreateFailed {
		e.Status = StatusCreated
	}
	if p := e.identify(r.ID); p != "" {
		return p
	}
	if !first {
		return "is created twice"
	}
	return problem
}

func (e *Entry) takenOver(r *Record) string {
	problem := ""
	if e.Status == StatusCreateFailed || e.Status == StatusVerifiedGone {
		problem = e.illegal(r)
		e.exists()
	}
	if r.Event == EventAdopted {
		e.Adopted = e.Adopted || !e.Created
		e.Status = StatusCreated
	} else if e.Status == StatusIntended {
		e.Created, e.Status = true, StatusCreated
	}
	if p := e.identify(r.ID); p != "" {
		return p
	}
	return problem
}

func (e *Entry) observed(r *Record) string {
	if r.Outcome != "" {
		e.Observed = r.Outcome
	}
	problem := e.identify(r.ID)
	sawIt := r.Outcome != "" && r.Outcome != "gone" && r.Outcome != "unknown"
	if sawIt && (e.Status == StatusVerifiedGone || e.Status == StatusCreateFailed) {
		problem = e.illegal(r)
		e.exists()
	}
	return problem
}

// exists takes back a proof that turned out wrong.
func (e *Entry) exists() {
	e.VerifiedGone, e.Created, e.Status = false, e.Created || !e.Adopted, StatusCreated
}

func (e *Entry) destroying(r *Record) string {
	problem := e.identify(r.ID)
	switch {
	case e.Status.Settled(), r.Event == EventDestroyRequested && e.ID == "",
		r.Event != EventDestroyRequested && !e.DestroyRequested:
		if problem != "" {
			return problem
		}
		return e.illegalDestroy(r)
	}
	switch r.Event {
	case EventDestroyRequested:
		e.DestroyRequested = true
		e.Status = StatusDestroyRequested
	case EventDestroyed:
		e.Destroyed = true
		e.Status = StatusDestroyed
	case EventVerifiedGone:
		e.VerifiedGone = true
		e.Status = StatusVerifiedGone
	}
	return problem
}

func (e *Entry) illegalDestroy(r *Record) string {
	switch {
	case e.Status.Settled():
		return e.illegal(r)
	case r.Event == EventDestroyRequested:
		return "destroy-requested names no ID and none is known"
	default:
		return string(r.Event) + " has no destroy-requested before it"
	}
}

// step follows stop, suspend, resume, snapshot and fork: requested, then done.
func (e *Entry) step(r *Record) string {
	problem := e.identify(r.ID)
	name, done := strings.CutSuffix(string(r.Event), "-done")
	if !done {
		e.pending[r.Event]++
		if e.Status != StatusCreated && e.Status != StatusDestroyRequested && e.Status != StatusLeaked {
			problem = e.illegal(r)
		}
		return problem
	}
	requested := Event(name + "-requested")
	if e.pending[requested] == 0 {
		return string(r.Event) + " has no " + string(requested) + " before it"
	}
	e.pending[requested]--
	return problem
}
