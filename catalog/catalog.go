// Package catalog carries what this tree states of each provider, as it stood when
// the program was built. It is a claim: a person wrote it and the gate let it
// pass, on evidence that a program without the tree cannot look at again.
package catalog

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed catalog.json
var files embed.FS

// Entry is what the catalog states of one provider. It is the part of
// schema/catalog-index.schema.json that a program decides by.
type Entry struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Adapter is how it is driven; "none" is a description without code.
	Adapter string `json:"adapter"`
	// Status counts until ExpiresAt; from then on it is unknown.
	Status     string    `json:"status"`
	Reason     string    `json:"reason"` // of a status that is not verified
	VerifiedAt time.Time `json:"verifiedAt"`
	ExpiresAt  time.Time `json:"expiresAt"`
	Evidence   []Run     `json:"evidence"`
}

// Run is the signed statement of a run that the entry rests on.
type Run struct {
	Path   string `json:"path"` // from the root of the tree
	SHA256 string `json:"sha256"`
}

// Entries are all entries, in ID order. An error is a broken build.
func Entries() ([]Entry, error) {
	var file struct {
		Providers []Entry `json:"providers"`
	}
	text, err := files.ReadFile("catalog.json")
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err != nil {
		return nil, fmt.Errorf("the catalog of this build: %w", err)
	}
	return file.Providers, nil
}

// Unbuilt says why there is no driver with this ID among those that are built in:
// one that is only described is not the same as none.
func Unbuilt(id string, builtIn ...string) string {
	have := "; there are " + strings.Join(builtIn, ", ")
	entries, err := Entries()
	i := slices.IndexFunc(entries, func(e Entry) bool { return e.ID == id })
	if err == nil && i >= 0 && entries[i].Adapter == "none" {
		return "provider " + id + " is described only: there is no adapter for it yet" + have
	}
	return "no provider " + strconv.Quote(id) + " is built in" + have
}
