package evidence

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

// PrivateKey signs statements. It shows its ID and nothing else when printed.
// The zero value signs nothing.
type PrivateKey struct{ seed ed25519.PrivateKey }

// NewPrivateKey makes a key from random bytes; random is crypto/rand's Reader
// outside of tests.
func NewPrivateKey(random io.Reader) (PrivateKey, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(random, seed); err != nil {
		return PrivateKey{}, fmt.Errorf("evidence: key: %w", err)
	}
	return PrivateKey{ed25519.NewKeyFromSeed(seed)}, nil
}

// Public returns the public half in hex.
func (k PrivateKey) Public() string { return hex.EncodeToString(k.public()) }

func (k PrivateKey) public() []byte {
	if len(k.seed) == 0 {
		return nil
	}
	return k.seed[ed25519.SeedSize:]
}

// ID returns the key's ID.
func (k PrivateKey) ID() string { return KeyID(k.public()) }

// String shows the ID only.
func (k PrivateKey) String() string { return k.ID() }

// GoString shows the ID only.
func (k PrivateKey) GoString() string { return k.ID() }

// Format shows the ID for every verb.
func (k PrivateKey) Format(f fmt.State, _ rune) {
	if _, err := io.WriteString(f, k.ID()); err != nil {
		return // fmt.State reports its own writer's errors to fmt's caller
	}
}

// Entry returns the key as an entry of the key list, to be pasted below "keys:".
func (k PrivateKey) Entry(owner string, from, until time.Time) string {
	return fmt.Sprintf("  - id: %s\n    public: %s\n    owner: %q\n    validFrom: %s\n    validUntil: %s\n", k.ID(), k.Public(), owner,
		from.UTC().Format(time.RFC3339), until.UTC().Format(time.RFC3339))
}

var (
	// ErrInsideTree says that a private key would be written into the tree.
	ErrInsideTree = errors.New("a private key is never written into the tree")
	// ErrPermissions says that others can read the file of a private key.
	ErrPermissions = errors.New("others can read the file; make it mode 0600")
)

// WriteKeyFile writes a private key as PKCS #8 in PEM to a new file of mode 0600
// outside the tree at root. A file that exists is never replaced.
func WriteKeyFile(file, root string, key PrivateKey) (err error) {
	if len(key.seed) == 0 {
		return fmt.Errorf("evidence: key: %w", errNoKey)
	}
	if err := outside(file, root); err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key.seed)
	if err != nil {
		return fmt.Errorf("evidence: key: %w", err)
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("evidence: key: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := pem.Encode(f, &pem.Block{Type: "PRIVATE KEY", Bytes: der}); err != nil {
		return fmt.Errorf("evidence: key: %w", err)
	}
	return f.Sync()
}

// outside refuses a file below root, also where links lead there.
func outside(file, root string) error {
	dir, err := filepath.EvalSymlinks(filepath.Dir(file))
	if err != nil {
		return fmt.Errorf("evidence: key: %w", err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return fmt.Errorf("evidence: key: %w", err)
	}
	tree, err := filepath.EvalSymlinks(root)
	if err != nil {
		return fmt.Errorf("evidence: key: %w", err)
	}
	if tree, err = filepath.Abs(tree); err != nil {
		return fmt.Errorf("evidence: key: %w", err)
	}
	rel, err := filepath.Rel(tree, dir)
	if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return fmt.Errorf("evidence: key: %w", ErrInsideTree)
	}
	return nil
}

// ReadKeyFile reads a private key. A file that others can read is refused where
// the system has such a thing.
func ReadKeyFile(file string) (PrivateKey, error) {
	info, err := os.Stat(file)
	if err != nil {
		return PrivateKey{}, fmt.Errorf("evidence: key: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode()&fs.FileMode(0o077) != 0 {
		return PrivateKey{}, fmt.Errorf("evidence: key: %s: %w", filepath.Base(file), ErrPermissions)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return PrivateKey{}, fmt.Errorf("evidence: key: %w", err)
	}
	return ParsePrivateKey(text)
}

// ParsePrivateKey reads a private key from PEM, as a protected variable of CI
// holds it. The error never repeats the text.
func ParsePrivateKey(text []byte) (PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "PRIVATE KEY" {
		return PrivateKey{}, fmt.Errorf("evidence: key: %w", errNoKey)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(ed25519.PrivateKey)
	if err != nil || !ok {
		return PrivateKey{}, fmt.Errorf("evidence: key: %w", errNoKey)
	}
	return PrivateKey{key}, nil
}

// canonicalEnvelope reports that payload and signature are in the one form of
// base64 that a writer makes: readers ignore the last bits of other forms.
func canonicalEnvelope(e *dsse.Envelope, payload []byte) bool {
	sig, err := base64.StdEncoding.Strict().DecodeString(e.Signatures[0].Sig)
	return err == nil && base64.StdEncoding.EncodeToString(sig) == e.Signatures[0].Sig &&
		base64.StdEncoding.EncodeToString(payload) == e.Payload
}
