package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

// hostImage is the only image there is: the machine itself.
const hostImage = "host"

// Create makes the folder under another name and moves it into place whole, so
// a sandbox either exists with all it was asked to have or not at all. What this
// provider cannot do is refused before anything is made.
func (a *Adapter) Create(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
	if err := ctxFailure(ctx, "Create", "", port.OutcomeUnchanged); err != nil {
		return contract.Instance{}, err
	}
	if err := refuseCreate(r); err != nil {
		return contract.Instance{}, err
	}
	if err := checkEnv("Create", r.Env); err != nil {
		return contract.Instance{}, err
	}
	enc, err := wire.Encode(wire.EncodingMap, wire.Limits{}, r.Labels, wire.Tags{Owner: r.Tags.Owner,
		Run: r.Tags.Run, Intent: r.Tags.Intent, ReapAfter: r.Tags.ReapAfter}, r.Name)
	if err != nil {
		return contract.Instance{}, err
	}
	m := meta{Version: metaVersion, ID: newID(), Name: enc.Name, Isolation: a.isolation,
		CreatedAt: a.now().UTC().Truncate(0), Labels: enc.Labels, Env: r.Env}
	f := folder{id: m.ID, path: filepath.Join(a.dir, m.ID)}
	if err := a.build(m, f); err != nil {
		return contract.Instance{}, fsFailure("Create", "", port.OutcomeUnchanged, err)
	}
	if err := syncDir(a.dir); err != nil {
		// It exists, and the caller owes its destroy.
		return contract.Instance{ID: f.id, State: contract.StateUnknown, Isolation: contract.IsolationUnknown,
				Freshness: contract.FreshnessConstant},
			failed("Create", f.id, port.CodeProvider, port.OutcomeDone, "the sandbox may not survive a power loss", err)
	}
	in, err := a.describe(f)
	if err != nil {
		return contract.Instance{ID: f.id, State: contract.StateUnknown, Isolation: contract.IsolationUnknown,
			Freshness: contract.FreshnessConstant}, fsFailure("Create", f.id, port.OutcomeDone, err)
	}
	return in, nil
}

// build leaves nothing visible behind when it fails.
func (a *Adapter) build(m meta, f folder) error {
	drafts := filepath.Join(a.dir, draftsName)
	if err := os.MkdirAll(drafts, 0o700); err != nil {
		return err
	}
	if err := sweepDrafts(drafts, a.now()); err != nil {
		return err
	}
	draft := filepath.Join(drafts, m.ID)
	if err := os.Mkdir(draft, 0o700); err != nil {
		return err
	}
	lock, err := lockFolder(draft, lockExclusive)
	if err == nil {
		err = errors.Join(moveDraft(m, draft, f.path), lock.release())
	}
	if err == nil {
		return nil
	}
	// The draft is gone when only the lock could not be released.
	return errors.Join(err, os.RemoveAll(draft), os.RemoveAll(f.path))
}

func moveDraft(m meta, draft, to string) error {
	for _, name := range []string{rootName, tmpName} {
		if err := os.Mkdir(filepath.Join(draft, name), 0o700); err != nil {
			return err
		}
	}
	if err := m.write(draft); err != nil {
		return err
	}
	if err := syncDir(draft); err != nil {
		return err
	}
	return os.Rename(draft, to)
}

// draftAge is how long a draft is left alone without a lock.
const draftAge = time.Minute

// sweepDrafts removes what killed processes left half-made. A draft that is
// locked, or so young that its maker has not locked it yet, is somebody's work.
func sweepDrafts(drafts string, now time.Time) error {
	entries, err := os.ReadDir(drafts)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && now.Sub(info.ModTime()) < draftAge {
			continue
		}
		if err != nil {
			return err
		}
		path := filepath.Join(drafts, e.Name())
		l, err := lockFolder(path, lockExclusive)
		if errors.Is(err, errLocked) || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := errors.Join(os.RemoveAll(path), l.release()); err != nil {
			return err
		}
	}
	return nil
}

// refuseCreate turns down everything a folder cannot give. bwrap could cut the
// network off altogether, but the manifest claims no control over egress, and a
// provider that enforces one policy and not the next invites false trust: every
// restriction is refused.
func refuseCreate(r contract.CreateRequest) error {
	unsupported := func(capability contract.Capability, reason string) error {
		return &port.Error{Code: port.CodeUnsupported, Op: "Create", Provider: providerID,
			Capability: string(capability), Support: string(contract.SupportUnsupported),
			Outcome: port.OutcomeUnchanged, Reason: reason}
	}
	switch {
	case r.FromSnapshot != "":
		return unsupported(contract.CapabilitySnapshot, "there are no snapshots to start from")
	case r.Image != "" && r.Image != hostImage:
		return unsupported("", "sandboxes are made from the machine itself: leave the image out or say host")
	case r.Pull == contract.PullPolicyAlways:
		return unsupported("", "there is no image to fetch")
	case r.Class != "" || r.Resources != nil:
		return unsupported("", "a sandbox shares the machine's resources: none can be set aside or limited")
	case r.Region != "":
		return unsupported("", "there is no region but this machine")
	case r.Lifetime != nil || r.IdleTimeout != nil:
		return unsupported(contract.CapabilityLifetime, "nothing here would end the sandbox when its time is up")
	case r.Egress != nil && r.Egress.Mode != contract.EgressModeAllowAll:
		return unsupported("", "an egress policy cannot be enforced: sandboxes use the machine's network")
	case r.Egress != nil && len(r.Egress.Hosts)+len(r.Egress.CIDRs) > 0:
		return refuse("Create", "", port.CodeInvalidArgument, "hosts and address ranges need the mode allow-list")
	case len(r.Secrets) > 0:
		return unsupported("", "secrets cannot be brokered: nothing stands between a sandbox and the network")
	case len(r.Mounts) > 0:
		return unsupported(contract.CapabilityMounts, "workspace state cannot be mounted")
	case len(r.Ports) > 0:
		return unsupported(contract.CapabilityPorts, "ports cannot be published: commands listen on the machine itself")
	case !utf8.ValidString(r.Name) || strings.ContainsFunc(r.Name, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return refuse("Create", "", port.CodeInvalidArgument, "the name holds control characters or is not UTF-8")
	}
	return nil
}
