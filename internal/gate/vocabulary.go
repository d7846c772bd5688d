package gate

import (
	"sync"

	"github.com/agentworkforce/sbx/internal/schemacheck"
	"github.com/agentworkforce/sbx/schema"
)

// vocabulary is what the embedded schema lists that rules look IDs up in.
type vocabulary struct {
	ids      []string          // of capabilities
	reserved map[string]bool   // capability -> the contract has nothing for it yet
	methods  map[string]string // method name -> capability
	checks   []string
	hazards  map[string]string // hazard -> its check
}

// newVocabulary returns a function that reads the vocabulary at its first call.
func newVocabulary(provider func() (*schemacheck.Checker, error)) func() (*vocabulary, error) {
	return sync.OnceValues(func() (*vocabulary, error) {
		checker, err := provider()
		if err != nil {
			return nil, err
		}
		v := &vocabulary{reserved: map[string]bool{}, methods: map[string]string{}, hazards: map[string]string{}}
		for _, c := range checker.Capabilities() {
			v.ids = append(v.ids, c.ID)
			v.reserved[c.ID] = c.Reserved
			for _, m := range c.Methods {
				v.methods[m] = c.ID
			}
		}
		checks, err := schema.Checks()
		if err != nil {
			return nil, err
		}
		for _, c := range checks {
			v.checks = append(v.checks, c.ID)
		}
		hazards, err := schema.Hazards()
		if err != nil {
			return nil, err
		}
		for _, h := range hazards {
			v.hazards[h.ID] = h.Check
		}
		return v, nil
	})
}
