package main

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/spf13/cobra"
)

// createFlags are the flags of new and run.
type createFlags struct {
	image, pull, snapshot, name, class, memory, disk, region string
	labels, env, egress                                      []string
	ports                                                    []int
	cpus                                                     float64
	ttl, idle                                                time.Duration
	uncontained                                              bool
}

func (f *createFlags) register(cmd *cobra.Command, a *app) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.image, "image", "", "image or template `I`")
	flags.StringVar(&f.pull, "pull", "", "fetch the image `WHEN`: missing, always or never")
	flags.StringVar(&f.snapshot, "from-snapshot", "", "start from snapshot `S` instead of an image")
	flags.StringVar(&f.name, "name", "", "display name `N`")
	flags.StringArrayVar(&f.labels, "label", nil, "label `K=V`; may be given again")
	flags.StringArrayVarP(&f.env, "env", "e", nil, "variable `K=V`, or K to take it from here")
	flags.IntSliceVar(&f.ports, "port", nil, "publish port `N` of the sandbox")
	flags.StringVar(&f.class, "class", "", "machine class `C`, instead of the next three")
	flags.Float64Var(&f.cpus, "cpus", 0, "`N` virtual CPUs, such as 1.5")
	flags.StringVar(&f.memory, "memory", "", "memory `SIZE`, such as 512MiB")
	flags.StringVar(&f.disk, "disk", "", "disk `SIZE`, such as 10GiB")
	flags.StringVar(&f.region, "region", "", "region `R`")
	flags.DurationVar(&f.ttl, "ttl", 0, "life `D`, such as 2h; who ends it then is told")
	flags.DurationVar(&f.idle, "idle", 0, "idle time `D` after which the vendor acts")
	flags.StringSliceVar(&f.egress, "egress", nil, "`ALLOW` only host,cidr,...; or deny-all")
	flags.BoolVar(&f.uncontained, "allow-uncontained", false, "start even if nothing enforces --egress")
	complete(cmd, "pull", cobra.FixedCompletions([]cobra.Completion{"missing", "always", "never"}, cobra.ShellCompDirectiveNoFileComp))
	complete(cmd, "label", a.completeLabels)
	complete(cmd, "from-snapshot", func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return a.completeSnapshots(cmd, nil, typed) // the arguments are not references
	})
}

// usage of the flags, not yet of a provider.
func (f *createFlags) check() error {
	switch {
	case f.image != "" && f.snapshot != "":
		return usagef("--image and --from-snapshot exclude each other")
	case f.class != "" && (f.cpus != 0 || f.memory != "" || f.disk != ""):
		return usagef("--class excludes --cpus, --memory and --disk")
	case math.IsInf(f.cpus, 0):
		return usagef("--cpus is a number")
	case f.pull != "" && !slices.Contains(contract.PullPolicyValues(), contract.PullPolicy(f.pull)):
		return usagef("--pull is missing, always or never")
	case f.uncontained && len(f.egress) == 0:
		return usagef("--allow-uncontained says something about --egress, which is missing")
	}
	return nil
}

// at are the options for one provider: images have other names elsewhere.
func (f *createFlags) at(a *app, d sandbox.Driver, cfg config) ([]sandbox.CreateOption, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	labels, err := pairs("--label", f.labels, nil)
	if err != nil {
		return nil, err
	}
	env, err := pairs("--env", f.env, a.lookup)
	if err != nil {
		return nil, err
	}
	opts := []sandbox.CreateOption{sandbox.WithLabels(labels), sandbox.WithEnv(env), sandbox.WithPorts(f.ports...), sandbox.WithName(f.name),
		sandbox.WithClass(f.class), sandbox.WithRegion(f.region), sandbox.WithPull(contract.PullPolicy(f.pull)), f.source(d, cfg)}
	resources, err := f.resources()
	if err != nil {
		return nil, err
	}
	if resources != nil {
		opts = append(opts, sandbox.WithResources(*resources))
	}
	policy, err := egressPolicy(f.egress)
	if err != nil {
		return nil, err
	}
	if policy != nil {
		opts = append(opts, sandbox.WithEgress(*policy))
	}
	if f.uncontained {
		opts = append(opts, sandbox.AllowUncontained())
	}
	if f.idle > 0 {
		opts = append(opts, sandbox.WithIdleTimeout(f.idle))
	}
	switch {
	case f.ttl > 0 && hasLifetime(d):
		opts = append(opts, sandbox.WithLifetime(f.ttl))
	case f.ttl > 0:
		opts = append(opts, sandbox.WithReapAfter(f.ttl))
	}
	return opts, nil
}

// uncontainable reports whether a provider refuses the egress policy for no other
// reason than that it does not enforce it.
func (f *createFlags) uncontainable(d sandbox.Driver) bool {
	policy, err := egressPolicy(f.egress)
	if err != nil || f.uncontained || d.Manifest.Egress == contract.EgressControlNone && d.Manifest.EgressDefault == contract.EgressModeDenyAll {
		return false
	}
	got := sandbox.EgressDisposition(d.Manifest.Egress, policy, false)
	return got == sandbox.DispositionRefuseUncontained || got == sandbox.DispositionRefuseUnenforceable
}

// hasLifetime reports whether the vendor ends a sandbox by itself.
func hasLifetime(d sandbox.Driver) bool {
	return d.Manifest.Claims[string(contract.CapabilityLifetime)].Support == contract.SupportSupported
}

func (f *createFlags) source(d sandbox.Driver, cfg config) sandbox.CreateOption {
	if f.snapshot != "" {
		return sandbox.WithFromSnapshot(strings.TrimPrefix(f.snapshot, d.ID+":"))
	}
	return sandbox.WithImage(or(f.image, cfg.Images[d.ID]))
}

func (f *createFlags) resources() (*contract.Resources, error) {
	var r contract.Resources
	if f.cpus != 0 {
		r.CPUs = &f.cpus
	}
	for _, s := range []struct {
		flag, text string
		to         **int64
	}{{"--memory", f.memory, &r.MemoryMiB}, {"--disk", f.disk, &r.DiskMiB}} {
		if s.text == "" {
			continue
		}
		mib, err := mebibytes(s.text)
		if err != nil {
			return nil, usagef("%s: %w", s.flag, err)
		}
		*s.to = &mib
	}
	if r == (contract.Resources{}) {
		return nil, nil
	}
	return &r, nil
}

// mebibytes reads 512MiB or 2GiB; m, mb, g and gb mean the same. A number alone
// is refused: nobody knows what it counts.
func mebibytes(s string) (int64, error) {
	low := strings.ToLower(strings.TrimSpace(s))
	for _, unit := range []struct {
		suffix string
		mib    int64
	}{{"gib", 1024}, {"gb", 1024}, {"g", 1024}, {"mib", 1}, {"mb", 1}, {"m", 1}} {
		digits, ok := strings.CutSuffix(low, unit.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 32)
		if err != nil || n <= 0 {
			break
		}
		return n * unit.mib, nil
	}
	return 0, fmt.Errorf("%q is not a size such as 512MiB or 2GiB", s)
}

// pairs reads K=V. With lookup a K alone takes its value from there.
func pairs(flag string, given []string, lookup func(string) (string, bool)) (map[string]string, error) {
	out := map[string]string{}
	for _, kv := range given {
		k, v, ok := strings.Cut(kv, "=")
		if !ok && lookup != nil {
			v, ok = lookup(k)
			if !ok {
				return nil, usagef("%s %s: there is no such variable here", flag, k)
			}
		}
		if !ok || k == "" {
			return nil, usagef("%s wants K=V", flag)
		}
		out[k] = v
	}
	return out, nil
}

// egressPolicy reads allow-all, deny-all, or hosts and address ranges.
func egressPolicy(given []string) (*contract.EgressPolicy, error) {
	if len(given) == 0 {
		return nil, nil
	}
	p := contract.EgressPolicy{Mode: contract.EgressModeAllowList}
	for _, s := range given {
		s = strings.TrimSpace(s)
		switch mode := contract.EgressMode(s); {
		case s == "":
			return nil, usagef("an egress policy holds an empty word")
		case mode == contract.EgressModeDenyAll || mode == contract.EgressModeAllowAll:
			if len(given) > 1 {
				return nil, usagef("%s stands alone", s)
			}
			return &contract.EgressPolicy{Mode: mode}, nil
		case strings.Contains(s, "/"):
			prefix, err := netip.ParsePrefix(s)
			if err != nil {
				return nil, usagef("%q is neither a host nor an address range", s)
			}
			p.CIDRs = append(p.CIDRs, prefix.String())
		default:
			if addr, err := netip.ParseAddr(s); err == nil {
				p.CIDRs = append(p.CIDRs, netip.PrefixFrom(addr, addr.BitLen()).String())
				continue
			}
			p.Hosts = append(p.Hosts, s)
		}
	}
	return &p, nil
}
