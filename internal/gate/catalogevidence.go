package gate

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/evidence"
	"github.com/agentworkforce/sbx/internal/yamldoc"
)

// DummyPrefix begins every secret that a run injects on purpose. It is a
// credential to nothing, and its place is nowhere.
const DummyPrefix = "sbx-dummy-secret-"

// maxAlike bounds the findings about one run under one rule; the rest is counted.
const maxAlike = 8

// keyList reads the key list once. A list with mistakes trusts nobody; its own
// findings say so.
func (p *providers) keyList() (*evidence.Keys, error) {
	if p.keysRead {
		return p.keys, nil
	}
	src, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(evidence.KeysFile)))
	if errors.Is(err, fs.ErrNotExist) {
		p.keysRead, p.keys = true, &evidence.Keys{}
		return p.keys, nil
	}
	if err != nil {
		return nil, err
	}
	keys, found, err := evidence.ParseKeys(evidence.KeysFile, src)
	if err != nil {
		return nil, err
	}
	if slices.Contains(p.targets, evidence.KeysFile) {
		p.add(found...)
	}
	if keys == nil {
		keys = &evidence.Keys{}
	}
	p.keysRead, p.keys = true, keys
	return keys, nil
}

// proof judges the run behind a link of a verified entry, or of one that keeps it
// as a record. What is missing or is another file has been said.
func (p *providers) proof(name string, e *examined, l link) error {
	keys, err := p.keyList()
	if err != nil {
		return err
	}
	o := evidence.Options{Keys: keys, Link: l.SHA256.Text}
	verified := e.facts.Status.Text == "verified"
	if verified {
		o.RequireSignature = true
		if o.Current, err = p.current(name, e); err != nil {
			return err
		}
	}
	found, b, err := p.judge(path.Dir(l.Path.Text), o)
	if err != nil || b == nil {
		return err
	}
	if verified {
		p.copied(name, e, b)
	}
	p.refuse(name, l.Path.At, path.Dir(l.Path.Text), b, slices.DeleteFunc(found, func(f evidence.Finding) bool {
		// Another digest than the link's is reported at the digest.
		return f.Kind == evidence.KindLink || !verified && !aboutRecord(f.Kind)
	}))
	return nil
}

// aboutRecord reports the kinds that matter for a run that proves nothing and is
// kept to be read.
func aboutRecord(k evidence.Kind) bool {
	return slices.Contains([]evidence.Class{evidence.ClassIntegrity, evidence.ClassTrust, evidence.ClassSecrecy}, k.Class())
}

// judge reads a run's folder and verifies it. The bundle is nil when there is no
// such folder inside the tree. It is judged as on the day of its end: age is asked
// of the entry, whose times are copies. So what was accepted stays accepted while nothing
// of it changes, and is remembered.
func (p *providers) judge(dir string, o evidence.Options) (found []evidence.Finding, b *evidence.Bundle, err error) {
	root, err := os.OpenRoot(p.root)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	b, err = evidence.Read(root.FS(), dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return []evidence.Finding{{Kind: evidence.KindUnreadable, Message: "cannot be read: " + err.Error()}}, &evidence.Bundle{}, nil
	}
	key, known := p.accepted(b, o)
	if known {
		return nil, b, nil
	}
	verifier, err := p.checks.verifier()
	if err != nil {
		return nil, nil, err
	}
	o.Now = time.Unix(0, 0)
	if s, err := b.Statement(); err == nil {
		o.Now = s.Predicate.FinishedAt
	}
	found = verifier.Verify(b, o)
	for file, src := range b.Files {
		if at := bytes.Index(src, []byte(DummyPrefix)); at >= 0 {
			found = append(found, evidence.Finding{Kind: evidence.KindKnownSecret, File: file, Line: 1 + bytes.Count(src[:at], []byte{'\n'}),
				Message: "holds the secret that the run injected on purpose"})
		}
	}
	if len(found) == 0 && p.cache != nil && b.Whole() {
		p.cache.putAccepted(key)
	}
	return found, b, nil
}

// accepted reports whether an earlier run has accepted a bundle with these files
// under these options, and the key under which that is remembered.
func (p *providers) accepted(b *evidence.Bundle, o evidence.Options) (cacheKey, bool) {
	if p.cache == nil || !b.Whole() {
		return cacheKey{}, false
	}
	against, err := json.Marshal(o)
	if err != nil {
		return cacheKey{}, false
	}
	h := sha256.New()
	part := func(s []byte) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(s))))
		h.Write(s)
	}
	part([]byte("accepted evidence"))
	part([]byte(b.Provider + "/" + b.Run))
	part(against)
	for _, name := range slices.Sorted(maps.Keys(b.Files)) {
		part([]byte(name))
		part(b.Files[name])
	}
	key := cacheKey(h.Sum(nil))
	return key, p.cache.hasAccepted(key)
}

// refuse reports findings about a run at the link that claims it, with the place
// in the artifact beside each.
func (p *providers) refuse(name string, at diag.Span, dir string, b *evidence.Bundle, found []evidence.Finding) {
	alike := map[string]int{}
	for _, f := range found {
		rule := ruleOf(f.Kind)
		if alike[rule]++; alike[rule] > maxAlike {
			continue
		}
		file := path.Join(dir, f.File)
		d := diag.Diagnostic{File: name, Rule: rule, Message: strings.TrimPrefix(file, path.Dir(dir)+"/") + ": " + f.Message, Next: nextFor(f.Kind, b.Provider, dir)}
		if src, ok := b.Files[f.File]; ok {
			d.Related = []diag.Related{{File: file, Span: placeIn(f, src), Message: "here"}}
		}
		p.add(d.At(at))
	}
	for _, rule := range slices.Sorted(maps.Keys(alike)) {
		if more := alike[rule] - maxAlike; more > 0 {
			p.add(diag.Diagnostic{File: name, Rule: rule, Message: fmt.Sprintf("%s: %d more of this rule", path.Base(dir), more),
				Next: "sbxgen evidence verify " + dir}.At(at))
		}
	}
}

// placeIn finds a finding in its file.
func placeIn(f evidence.Finding, src []byte) diag.Span {
	if f.Line > 0 || path.Ext(f.File) != ".json" || len(src) > yamldoc.MaxBytes {
		line := max(f.Line, 1)
		return diag.Span{Line: line, Col: 1, EndLine: line, EndCol: 2}
	}
	doc, _ := yamldoc.Parse(f.File, src)
	if doc == nil {
		return diag.Span{Line: 1, Col: 1, EndLine: 1, EndCol: 2}
	}
	key, value := doc.Pos(doc.Nearest(f.Pointer))
	if doc.Kind(doc.Nearest(f.Pointer)) != yamldoc.Scalar && !key.IsZero() {
		return key
	}
	if value.EndLine != value.Line {
		value.EndLine, value.EndCol = value.Line, value.Col+1
	}
	return value
}

// nextFor is the command that puts a finding right, where one does.
func nextFor(k evidence.Kind, provider, dir string) string {
	switch k {
	case evidence.KindUnsigned:
		return "sbxgen evidence sign " + dir
	case evidence.KindExpired, evidence.KindAdapter, evidence.KindClaims, evidence.KindCore, evidence.KindContract, evidence.KindStaleCheck:
		return "sbxgen evidence collect " + provider
	}
	return ""
}

// copied compares the times of an entry with those of the statement they are
// copied from.
func (p *providers) copied(name string, e *examined, b *evidence.Bundle) {
	s, err := b.Statement()
	if err != nil {
		return // has been said
	}
	for _, c := range []struct {
		word word
		key  string
		want time.Time
	}{{e.facts.VerifiedAt, "verifiedAt", s.Predicate.FinishedAt}, {e.facts.ExpiresAt, "expiresAt", s.Predicate.ExpiresAt()}} {
		got, err := time.Parse(time.RFC3339, c.word.Text)
		if err != nil || got.Equal(c.want) {
			continue
		}
		if c.key == "expiresAt" && got.Before(c.want) {
			continue // a person may set an earlier end
		}
		p.at(name, ruleTimes, c.word.At, fmt.Sprintf("%s is not that of the statement", c.key)).Suggestion = c.want.UTC().Format(time.RFC3339Nano)
	}
}

// current describes the provider of an entry as it stands, for comparison with
// its evidence.
func (p *providers) current(name string, e *examined) (now *evidence.Current, err error) {
	id := e.facts.Provider.Text
	manifest, _, err := p.find(id, "")
	if err != nil || manifest == "" {
		return nil, err
	}
	src, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(manifest)))
	if err != nil {
		return nil, err
	}
	doc, _ := yamldoc.Parse(manifest, src)
	if doc == nil {
		return nil, nil // the manifest has findings of its own
	}
	root, err := os.OpenRoot(p.root)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	now, err = evidence.NewCurrent(root.FS(), path.Dir(manifest), doc.Value())
	if err != nil {
		p.at(name, ruleAdapterChanged, e.facts.Status.At, "the adapter cannot be compared with the one that was tested: "+err.Error())
		return nil, nil
	}
	return now, nil
}

// record judges a run that no entry links: it may have failed, and must be what
// its statement says.
func (p *providers) record(name string) error {
	keys, err := p.keyList()
	if err != nil {
		return err
	}
	dir := path.Dir(name)
	found, b, err := p.judge(dir, evidence.Options{Keys: keys})
	if err != nil || b == nil {
		return err
	}
	p.refuse(name, diag.Span{Line: 1, Col: 1, EndLine: 1, EndCol: 2}, dir, b, slices.DeleteFunc(found, func(f evidence.Finding) bool {
		// What looks like a credential is found in each file by itself.
		return !aboutRecord(f.Kind) || f.Kind.Class() == evidence.ClassSecrecy && f.Kind != evidence.KindKnownSecret
	}))
	return nil
}
