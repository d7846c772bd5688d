package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/agentworkforce/sbx/internal/diag"
)

// ruleDeepSecret is what a hit of the deep scan breaks.
const ruleDeepSecret = "SBX506"

// DeepError says that the deep scan did not take place: the program failed, or
// left no report that can be read. What it printed is not repeated.
type DeepError struct {
	Program string
	Err     error
}

// Error names the program.
func (e *DeepError) Error() string {
	return fmt.Sprintf("the deep scan did not take place: %s: %v", e.Program, e.Err)
}

// Unwrap returns the cause.
func (e *DeepError) Unwrap() error { return e.Err }

// hit is an entry of the scanner's report. Its Secret is used to find the place
// in the file and to hide it, and goes nowhere else.
type hit struct {
	RuleID    string
	File      string
	StartLine int
	Secret    string
}

// deep runs the deep scanner over copies of the targets, so that it sees these
// files only and no settings of the tree that would let something pass.
func (r *run) deep(ctx context.Context) (err error) {
	temp, err := os.MkdirTemp("", "sbx-deep-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	files := filepath.Join(temp, "files")
	for _, name := range r.targets {
		if err := r.copyTarget(files, name); err != nil {
			return err
		}
	}
	if len(r.targets) == 0 {
		return nil
	}
	hits, err := scanDeep(ctx, r.opt.Deep, temp, files)
	if err != nil {
		return &DeepError{Program: filepath.Base(r.opt.Deep), Err: err}
	}
	for _, h := range hits {
		if err := r.deepFinding(files, h); err != nil {
			return err
		}
	}
	return nil
}

// copyTarget copies one file. One that cannot be read has a finding already.
func (r *run) copyTarget(to, name string) error {
	var buf bytes.Buffer
	src, err := r.read(target{name: name, kind: kindData}, &buf)
	if err != nil {
		return nil
	}
	file := filepath.Join(to, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, src, 0o600)
}

// scanDeep runs the program and reads its report.
func scanDeep(ctx context.Context, program, temp, files string) ([]hit, error) {
	report := filepath.Join(temp, "report.json")
	cmd := exec.CommandContext(ctx, program, "dir", files, "--report-format", "json", "--report-path", report,
		"--no-banner", "--exit-code", "0")
	cmd.Dir = temp
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GITLEAKS_") { // settings that could let something pass
			cmd.Env = append(cmd.Env, v)
		}
	}
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	src, err := os.ReadFile(report)
	if err != nil {
		return nil, errors.New("it left no report")
	}
	var hits []hit
	if err := json.Unmarshal(src, &hits); err != nil {
		return nil, errors.New("its report is not the JSON that is known here")
	}
	return hits, nil
}

// deepFinding reports a hit at its place and takes its value out of what is said
// about the file elsewhere.
func (r *run) deepFinding(files string, h hit) error {
	file := h.File
	if !filepath.IsAbs(file) {
		file = filepath.Join(filepath.Dir(files), file)
	}
	rel, err := filepath.Rel(files, file)
	if err != nil || !filepath.IsLocal(rel) {
		return &DeepError{Program: filepath.Base(r.opt.Deep), Err: errors.New("its report names a file that it was not given")}
	}
	name := filepath.ToSlash(rel)
	src, err := os.ReadFile(file)
	if err != nil {
		return &DeepError{Program: filepath.Base(r.opt.Deep), Err: errors.New("its report names a file that it was not given")}
	}
	if h.Secret != "" {
		for i := range r.found {
			if d := &r.found[i]; d.File == name {
				hide := func(s string) string { return strings.ReplaceAll(s, h.Secret, hidden) }
				d.Message, d.Help, d.Suggestion = hide(d.Message), hide(d.Help), hide(d.Suggestion)
			}
		}
	}
	r.at(name, ruleDeepSecret, deepSpan(src, h), "gitleaks takes this for a secret: "+ruleName(h.RuleID)).Help =
		"revoke it if it is real, and write the name of a variable here"
	return nil
}

// deepSpan is where a hit is: its value, looked for from the reported line on,
// and else the whole of that line, so that nothing of it is shown.
func deepSpan(src []byte, h hit) diag.Span {
	from := 0
	for line := 1; line < h.StartLine; line++ {
		next := bytes.IndexByte(src[from:], '\n')
		if next < 0 {
			break
		}
		from += next + 1
	}
	if at := bytes.Index(src[from:], []byte(h.Secret)); h.Secret != "" && at >= 0 {
		end := from + at + len(h.Secret)
		if first, _, more := strings.Cut(h.Secret, "\n"); more {
			end = from + at + len(first)
		}
		return byteSpan(src, from+at, end)
	}
	end := len(src)
	if next := bytes.IndexByte(src[from:], '\n'); next >= 0 {
		end = from + next
	}
	return byteSpan(src, from, end)
}

// ruleName is the scanner's own name of a rule, when it is one.
func ruleName(id string) string {
	if regexp.MustCompile(`^[a-z0-9-]{1,80}$`).MatchString(id) {
		return id
	}
	return "a rule without a name"
}
