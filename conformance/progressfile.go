package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"
)

// ProgressLine is one line of the file that EnvProgress names: a check that
// starts, when Verdict is empty, or that ended. Without a check it says that the
// vendor cannot be reached, and why.
type ProgressLine struct {
	Check   string        `json:"check,omitempty"`
	Verdict Verdict       `json:"verdict,omitempty"`
	Reason  Reason        `json:"reason,omitempty"`
	Message string        `json:"message,omitempty"`
	Done    int           `json:"done"`
	Total   int           `json:"total"`
	Elapsed time.Duration `json:"elapsed"`
}

// progressFile is an observer that writes JSON lines for another process. The
// first error of writing is kept and ends the writing; the run goes on.
type progressFile struct {
	mu  sync.Mutex
	f   *os.File
	err error
}

func openProgress(name string) (*progressFile, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("conformance: progress: %w", err)
	}
	return &progressFile{f: f}, nil
}

func (p *progressFile) observe(e Progress) {
	line := ProgressLine{Check: e.Check.ID, Done: e.Done, Total: e.Total, Elapsed: e.Elapsed}
	if e.Result != nil {
		line.Verdict, line.Reason, line.Message = e.Result.Verdict, e.Result.Reason, e.Result.Message
		if line.Check == "" {
			line.Check = e.Result.ID
		}
	}
	b, err := json.Marshal(line)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return
	}
	if err == nil {
		_, err = p.f.Write(append(b, '\n'))
	}
	p.err = err
}

func (p *progressFile) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return joinErrors(p.err, p.f.Close())
}
