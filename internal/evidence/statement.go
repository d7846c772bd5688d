package evidence

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/agentworkforce/sbx/conformance"
)

const (
	// StatementType is the type of every in-toto statement of version 1.
	StatementType = "https://in-toto.io/Statement/v1"
	// PredicateType is that of our predicate. A change that an older reader would
	// misread gets another number.
	PredicateType = "https://sbx.dev/evidence/v1"
	// MaxAge is how long evidence is fresh after the end of its run.
	MaxAge = 90 * 24 * time.Hour
)

// Statement is an in-toto statement about one run.
type Statement struct {
	Type string `json:"_type"`
	// Subject has every other file of the run's folder, by name, sorted.
	Subject       []Subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     Predicate `json:"predicate"`
}

// Subject is one file of the run's folder.
type Subject struct {
	// Name is its slash path from the folder.
	Name   string `json:"name"`
	Digest Digest `json:"digest"`
}

// Digest of a file's bytes.
type Digest struct {
	SHA256 string `json:"sha256"` // hex
}

// Verdict is how a run ended.
type Verdict string

// The verdicts.
const (
	Passed Verdict = "passed"
	Failed Verdict = "failed"
	// Blocked: something was missing, and nothing was made at the vendor.
	Blocked Verdict = "blocked-before-mutation"
)

// Mode says what was tested. It is derived, never typed.
type Mode string

// The modes.
const (
	Live      Mode = "live"      // the manifest's own endpoints
	Simulated Mode = "simulated" // anything else
)

// Predicate is what a statement says about its run.
type Predicate struct {
	Run        string    `json:"run"`
	Provider   string    `json:"provider"`
	Verdict    Verdict   `json:"verdict"`
	StartedAt  time.Time `json:"startedAt"`
	FinishedAt time.Time `json:"finishedAt"`
	Versions   Versions  `json:"versions"`
	// Mode follows from Target and from the report.
	Mode        Mode                    `json:"mode"`
	Target      Target                  `json:"target"`
	Environment conformance.Environment `json:"environment"`
	Binding     Binding                 `json:"binding"`
	// Commit of the tree, information only; empty when not known.
	Commit   string    `json:"commit,omitempty"`
	Producer *Producer `json:"producer,omitempty"`
	// Missing names what a blocked run lacked: variables, never values.
	Missing []string `json:"missing,omitempty"`
	// Reasons say in words why a run did not pass.
	Reasons []string `json:"reasons,omitempty"`
}

// Versions of what made the run.
type Versions struct {
	Tool string `json:"tool"`
	// Suite is conformance.SuiteRevision.
	Suite int `json:"suite"`
}

// Target is what was tested: where the endpoints led, and the account or engine.
type Target struct {
	// Account is a hash of the account or engine; empty when it is not known.
	Account   string     `json:"account,omitempty"`
	Endpoints []Endpoint `json:"endpoints,omitempty"`
}

// Endpoint is the identity of a resolved endpoint.
type Endpoint struct {
	Name string `json:"name"`
	// Origin is scheme, host and port.
	Origin string `json:"origin"`
	// TLSKey is the SHA-256, in hex, of the public key of the server's
	// certificate; empty without TLS.
	TLSKey string `json:"tlsKey,omitempty"`
}

// Binding is what the run depends on, each part by itself.
type Binding struct {
	Adapter string `json:"adapter"` // AdapterDigest
	Claims  string `json:"claims"`  // ClaimsDigest
	// Core and Contract are revisions of schema/revisions.json; Contract has the
	// capabilities that the manifest claims as supported.
	Core     int            `json:"core"`
	Contract map[string]int `json:"contract,omitempty"`
	// Checks are id@revision, in the order of the report.
	Checks []string `json:"checks"`
}

// Producer is who or what made the run. Every field is optional.
type Producer struct {
	Person   string `json:"person,omitempty"`
	Agent    string `json:"agent,omitempty"`
	Node     string `json:"node,omitempty"`
	WorkUnit string `json:"workUnit,omitempty"`
}

// ExpiresAt is the moment from which the evidence is no longer fresh.
func (p *Predicate) ExpiresAt() time.Time { return p.FinishedAt.Add(MaxAge) }

// Encode returns the statement as it is written to its file.
func (s *Statement) Encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return nil, fmt.Errorf("evidence: statement: %w", err)
	}
	return b.Bytes(), nil
}

// DecodeStatement reads a statement strictly: what its schema does not allow, a
// key that comes twice, and text after the document are errors.
func DecodeStatement(src []byte) (*Statement, error) {
	s, err := newSchemas()
	if err != nil {
		return nil, err
	}
	return s.statement(src)
}

// SHA256 is the digest of a file as it is written everywhere here: hex.
func SHA256(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// checkRef is a check with its revision.
func checkRef(id string, revision int) string { return fmt.Sprintf("%s@%d", id, revision) }
