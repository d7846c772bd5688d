package sandbox

import (
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// checkCreate refuses requests that can never succeed and requests for things
// this provider does not have. Nothing is dropped silently.
func (p *Provider) checkCreate(op operation, o *createOptions) error {
	r := &o.request
	if reason := p.checkRequest(r, o); reason != "" {
		return p.refuse(op, port.CodeInvalidArgument, reason)
	}
	for _, need := range []struct {
		asked bool
		c     contract.Capability
	}{
		{len(r.Labels) > 0, contract.CapabilityLabels},
		{len(r.Ports) > 0, contract.CapabilityPorts},
		{r.FromSnapshot != "", contract.CapabilitySnapshot},
		{r.Lifetime != nil || r.IdleTimeout != nil, contract.CapabilityLifetime},
		{len(r.Mounts) > 0, contract.CapabilityMounts},
	} {
		if need.asked && !p.callable(need.c) {
			return p.unsupported(op, need.c)
		}
	}
	if len(r.Secrets) > 0 && !p.driver.Manifest.BrokersSecrets {
		return p.refuse(op, port.CodeUnsupported,
			"secrets: this provider does not broker secrets, so the sandbox itself would hold them; nothing was created")
	}
	if r.Region != "" {
		return p.refuse(op, port.CodeUnsupported, "region: this provider declares no choice of region")
	}
	return p.checkLabels(op, r.Labels)
}

func (p *Provider) checkRequest(r *contract.CreateRequest, o *createOptions) string {
	switch {
	case r.Class != "" && r.Resources != nil:
		return "give a machine class or resources, not both"
	case r.Image != "" && r.FromSnapshot != "":
		return "give an image or a snapshot, not both"
	case r.Lifetime != nil && *r.Lifetime <= 0, r.IdleTimeout != nil && *r.IdleTimeout <= 0, o.reapAfter < 0:
		return "a lifetime, idle timeout or reap time must be positive"
	case r.Pull != "" && !slices.Contains(contract.PullPolicyValues(), r.Pull):
		return fmt.Sprintf("pull policy %q is not one of the contract", r.Pull)
	case strings.ContainsRune(r.Name+r.Image+r.FromSnapshot, 0):
		return "a name holds a NUL byte"
	}
	if reason := p.checkEnv(r.Env); reason != "" {
		return reason
	}
	for _, port := range r.Ports {
		if port < 1 || port > 65535 {
			return fmt.Sprintf("%d is not a port", port)
		}
	}
	for _, m := range r.Mounts {
		if !path.IsAbs(m.Path) {
			return fmt.Sprintf("mount path %q is not absolute", m.Path)
		}
	}
	for _, s := range r.Secrets {
		if s.Name == "" || s.Value.IsZero() || len(s.Hosts) == 0 {
			return "a brokered secret needs a name, a value and hosts"
		}
	}
	return checkSizes(r)
}

func checkSizes(r *contract.CreateRequest) string {
	if res := r.Resources; res != nil {
		if res.CPUs != nil && *res.CPUs <= 0 || res.MemoryMiB != nil && *res.MemoryMiB <= 0 ||
			res.DiskMiB != nil && *res.DiskMiB <= 0 {
			return "resources must be positive"
		}
	}
	if e := r.Egress; e != nil {
		list := len(e.Hosts) + len(e.CIDRs)
		switch {
		case !slices.Contains(contract.EgressModeValues(), e.Mode):
			return fmt.Sprintf("egress mode %q is not one of the contract", e.Mode)
		case e.Mode == contract.EgressModeAllowList && list == 0:
			return "an egress allow-list names nothing; use deny-all"
		case e.Mode != contract.EgressModeAllowList && list > 0:
			return "egress hosts and address ranges need mode allow-list"
		}
	}
	return ""
}

// checkEnv never shows a value.
func (p *Provider) checkEnv(env map[string]string) string {
	names := make([]string, 0, len(env))
	for name := range env {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if !envName(name) {
			return fmt.Sprintf("%q is not the name of an environment variable", name)
		}
		if strings.ContainsRune(env[name], 0) {
			return fmt.Sprintf("the value of environment variable %s holds a NUL byte", name)
		}
		if slices.Contains(p.driver.Manifest.EnvReserved, name) {
			return fmt.Sprintf("the environment variable %s is reserved by this provider", name)
		}
	}
	return ""
}

func envName(s string) bool {
	for i, r := range s {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// checkLabels holds labels against the manifest's limits: too long is refused,
// never cut, and nobody may write an ownership tag.
func (p *Provider) checkLabels(op operation, labels map[string]string) error {
	rules := p.driver.Manifest.Labels
	bad := func(format string, args ...any) error {
		return p.refuse(op, port.CodeInvalidArgument, fmt.Sprintf(format, args...))
	}
	if rules.Max != nil && int64(len(labels)) > *rules.Max {
		return bad("%d labels; this provider takes %d", len(labels), *rules.Max)
	}
	for k, v := range labels {
		folded := strings.ToLower(strings.TrimSpace(k))
		switch {
		case k == "":
			return bad("a label has no key")
		case strings.HasPrefix(folded, "sbx.") || strings.HasPrefix(folded, "_sandbox."):
			return bad("label %q is reserved", k)
		case rules.MaxKeyLength != nil && int64(len(k)) > *rules.MaxKeyLength:
			return bad("label key %q has %d bytes; this provider takes %d", k, len(k), *rules.MaxKeyLength)
		case rules.MaxValueLength != nil && int64(len(v)) > *rules.MaxValueLength:
			return bad("the value of label %q has %d bytes; this provider takes %d", k, len(v), *rules.MaxValueLength)
		}
	}
	return nil
}

// checkArgument applies the rules of data types that several operations take;
// it returns what is wrong, "" when nothing is.
func (p *Provider) checkArgument(arg any) string {
	switch a := arg.(type) {
	case contract.Command:
		return p.checkCommand(a)
	case contract.PTYRequest:
		if a.Cols < 0 || a.Rows < 0 {
			return "a terminal size is negative"
		}
		return p.checkCommand(a.Command)
	case contract.SnapshotRequest:
		return p.labelArgument(a.Labels)
	case contract.ForkRequest:
		return p.labelArgument(a.Labels)
	}
	return ""
}

func (p *Provider) labelArgument(labels map[string]string) string {
	if len(labels) > 0 && !p.callable(contract.CapabilityLabels) {
		return "this provider stores no labels"
	}
	if e, ok := p.checkLabels(operation{}, labels).(*Error); ok {
		return e.Reason
	}
	return ""
}

func (p *Provider) checkCommand(c contract.Command) string {
	limit := p.driver.Manifest.ExecTimeoutCap
	switch {
	case len(c.Argv) > 0 && c.Script != "":
		return "a command is argv or a script, not both"
	case len(c.Argv) == 0 && c.Script == "", len(c.Argv) > 0 && c.Argv[0] == "":
		return "the command is empty"
	case strings.ContainsRune(strings.Join(c.Argv, "")+c.Script+c.Dir, 0):
		return "the command holds a NUL byte"
	case c.Timeout < 0 || c.OutputLimit < 0:
		return "a timeout or output limit is negative"
	case limit != nil && c.Timeout > *limit:
		return fmt.Sprintf("a command may run for %s at most with this provider", *limit)
	case len(c.Stdin) > 0 && c.OpenStdin:
		return "standard input is given whole or kept open, not both"
	}
	return p.checkEnv(c.Env)
}

// commandLife is how long a command may run: what it says, else the declared
// cap, else 30 minutes.
func (p *Provider) commandLife(c contract.Command) time.Duration {
	switch limit := p.driver.Manifest.ExecTimeoutCap; {
	case c.Timeout > 0:
		return c.Timeout
	case limit != nil:
		return *limit
	}
	return 30 * time.Minute
}
