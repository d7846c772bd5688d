package local

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/wire"
)

const (
	metaFile    = "meta.json"
	metaVersion = 1
)

// meta is what a sandbox's folder says about itself. It is written once, before
// the folder gets its name, and never changed. Env may hold credentials, so the
// file and the folder are private to the user.
type meta struct {
	Version   int               `json:"version"`
	ID        string            `json:"id"`
	Name      string            `json:"name,omitempty"`
	Isolation string            `json:"isolation"`
	CreatedAt time.Time         `json:"createdAt"`
	Labels    map[string]string `json:"labels,omitempty"` // with the ownership tags, as wire encodes a map
	Env       map[string]string `json:"env,omitempty"`
}

// write makes meta.json in dir durable before it appears under its name.
func (m meta) write(dir string) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	tmp := filepath.Join(dir, metaFile+".tmp")
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(dir, metaFile))
}

// readMeta reads the meta.json of the sandbox id. A file that does not say what
// it must is an error: its labels and isolation are not known.
func readMeta(dir, id string) (meta, error) {
	text, err := os.ReadFile(filepath.Join(dir, metaFile))
	if err != nil {
		return meta{}, err
	}
	var m meta
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return meta{}, fmt.Errorf("%s: %w", metaFile, err)
	}
	switch {
	case m.Version != metaVersion:
		return meta{}, fmt.Errorf("%s: version %d is not known", metaFile, m.Version)
	case m.ID != id:
		return meta{}, fmt.Errorf("%s: it names another sandbox", metaFile)
	case m.Isolation != isolationBwrap && m.Isolation != isolationNone:
		return meta{}, fmt.Errorf("%s: its isolation is not known", metaFile)
	case m.CreatedAt.IsZero():
		return meta{}, fmt.Errorf("%s: its time of creation is missing", metaFile)
	}
	return m, nil
}

// origin splits what is stored as labels into the user's labels and the tags;
// no tags when there are none of ours.
func (m meta) origin() (map[string]string, *contract.Tags) {
	d := wire.Decode(wire.EncodingMap, wire.Encoded{Name: m.Name, Labels: m.Labels})
	if d.Marking != wire.MarkingTagged {
		return d.Labels, nil
	}
	return d.Labels, &contract.Tags{Owner: d.Tags.Owner, Run: d.Tags.Run, Intent: d.Tags.Intent,
		ReapAfter: d.Tags.ReapAfter}
}
