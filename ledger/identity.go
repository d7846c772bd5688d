package ledger

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Identity says who writes: the owner sandboxes belong to, and where.
type Identity struct {
	Owner string // see Owner
	Host  string // see Host
	Boot  string // hash of this boot's id; "" where the system has none
}

// Identify gathers the identity of this process. It may make the owner file; it
// is safe to call from several processes at once.
func Identify(ctx context.Context, dirs Dirs, getenv func(string) string) (Identity, error) {
	owner, err := Owner(ctx, dirs, getenv)
	if err != nil {
		return Identity{}, err
	}
	host, err := Host(ctx, dirs)
	if err != nil {
		return Identity{}, err
	}
	return Identity{Owner: owner, Host: host, Boot: bootHash(bootID())}, nil
}

// ownerAlphabet is safe in file names, labels and DNS names of every vendor.
const ownerAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789"

const ownerLen = 16

// Owner is SBX_OWNER, else the content of <state>/sbx/owner: 16 characters of
// a-z and 0-9, made at random the first time. An SBX_OWNER or a file that does
// not pass ValidOwner is an *InvalidError; a damaged file is never replaced,
// because the sandboxes of the old owner would be orphaned.
func Owner(ctx context.Context, dirs Dirs, getenv func(string) string) (string, error) {
	if owner := strings.TrimSpace(getenv("SBX_OWNER")); owner != "" {
		if !ValidOwner(owner) {
			return "", &InvalidError{Field: "SBX_OWNER", Reason: ownerRule}
		}
		return owner, nil
	}
	if err := dirs.check(); err != nil {
		return "", err
	}
	path := dirs.Path("owner")
	owner, err := once(ctx, path, func() (string, error) { return randomOwner(rand.Reader) })
	if err != nil {
		return "", fmt.Errorf("owner: %w", err)
	}
	if !ValidOwner(owner) {
		return "", &InvalidError{Field: path, Reason: ownerRule}
	}
	return owner, nil
}

const ownerRule = "must be 3 to 32 characters of a-z, 0-9 and inner hyphens, and no device name"

// ValidOwner reports whether s can be an owner: 3 to 32 characters of a-z, 0-9
// and hyphens that are neither first nor last, and no name that Windows keeps for
// a device, since it becomes a directory.
func ValidOwner(s string) bool {
	return ownerShape().MatchString(s) && !slices.Contains([]string{"con", "prn", "aux", "nul"}, s) &&
		!deviceShape().MatchString(s)
}

func ownerShape() *regexp.Regexp  { return regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,30}[a-z0-9]$`) }
func deviceShape() *regexp.Regexp { return regexp.MustCompile(`^(com|lpt)[0-9]$`) }

func randomOwner(r io.Reader) (string, error) {
	out := make([]byte, 0, ownerLen)
	var b [1]byte
	for len(out) < ownerLen {
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return "", err
		}
		// 252 is the largest multiple of 36 in a byte: no letter is likelier.
		if b[0] < 252 {
			out = append(out, ownerAlphabet[int(b[0])%len(ownerAlphabet)])
		}
	}
	return string(out), nil
}

// Host is a stable identity of this machine that gives nothing away: "m-" and a
// keyed hash of the system's machine id. Where there is none (some containers,
// macOS) it is "s-" and a random value kept in <state>/sbx/host, which tells
// state directories apart rather than machines.
func Host(ctx context.Context, dirs Dirs) (string, error) {
	return hostOf(ctx, dirs, machineID())
}

func hostOf(ctx context.Context, dirs Dirs, machine string) (string, error) {
	if machine != "" {
		return "m-" + keyedHash("host", machine), nil
	}
	if err := dirs.check(); err != nil {
		return "", err
	}
	path := dirs.Path("host")
	host, err := once(ctx, path, func() (string, error) {
		id, err := randomHex(rand.Reader, 16)
		return "s-" + id, err
	})
	if err != nil {
		return "", fmt.Errorf("host: %w", err)
	}
	if id, ok := strings.CutPrefix(host, "s-"); !ok || len(id) != 32 || strings.Trim(id, hexDigits) != "" {
		return "", &InvalidError{Field: path, Reason: "is damaged; it must be s- and 32 hex digits"}
	}
	return host, nil
}

func bootHash(id string) string {
	if id == "" {
		return ""
	}
	return "b-" + keyedHash("boot", id)
}

// keyedHash hides the system's own id, as machine-id(5) asks of programs.
func keyedHash(purpose, id string) string {
	h := hmac.New(sha256.New, []byte(id))
	h.Write([]byte("sbx ledger " + purpose + " v1"))
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func randomHex(r io.Reader, n int) (string, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return "", fmt.Errorf("random: %w", err)
	}
	return hex.EncodeToString(b), nil
}

const (
	runExt     = ".jsonl"
	runLayout  = "20060102T150405Z"
	runRandLen = 6 // bytes
	hexDigits  = "0123456789abcdef"
)

// newRunID sorts by time to the second; the rest makes it unique.
func newRunID(now time.Time, r io.Reader) (string, error) {
	suffix, err := randomHex(r, runRandLen)
	if err != nil {
		return "", err
	}
	now = now.UTC()
	if y := now.Year(); y < 1970 || y > 9999 {
		return "", errors.New("ledger: the clock is out of range")
	}
	return now.Format(runLayout) + "-" + suffix, nil
}

// ValidRun reports whether s has the shape of a run ID, such as
// 20261129T142516Z-0123456789ab: UTC time to the second and 12 hex digits.
func ValidRun(s string) bool {
	stamp, suffix, ok := strings.Cut(s, "-")
	if !ok || len(suffix) != 2*runRandLen || strings.Trim(suffix, hexDigits) != "" {
		return false
	}
	_, err := time.Parse(runLayout, stamp)
	return err == nil
}

// NewIntent makes the random ID of one thing about to be made: 32 hex digits.
func NewIntent() (string, error) { return randomHex(rand.Reader, 16) }
