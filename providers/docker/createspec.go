package docker

import (
	"maps"
	"math"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/wire"
)

// sleeper keeps a container alive and ends at once on the engine's stop
// signal. As process 1 it also reaps what commands leave behind. The sleep is
// in the background because a shell runs traps only between commands.
const sleeper = `trap 'exit 0' TERM INT
while :; do sleep 3600 & wait "$!"; done`

const stopSignal = "SIGTERM"

// createSpec checks the request and lays it out for the engine. Nothing is
// sent: what the engine cannot do is refused here.
func (a *Adapter) createSpec(r contract.CreateRequest) (client.ContainerCreateOptions, error) {
	none := client.ContainerCreateOptions{}
	if err := a.checkRequest(r); err != nil {
		return none, err
	}
	labels, err := a.encodeLabels("Create", r.Labels, r.Tags, marks{kind: kindSandbox})
	if err != nil {
		return none, err
	}
	env, err := environment(r.Env)
	if err != nil {
		return none, a.refuse("Create", "", "%s", err)
	}
	host, err := a.hostConfig(r.Resources)
	if err != nil {
		return none, err
	}
	exposed, err := a.publish(r.Ports, host)
	if err != nil {
		return none, err
	}
	image := r.Image
	if r.FromSnapshot != "" {
		image = r.FromSnapshot
	}
	return client.ContainerCreateOptions{Name: containerName(r.Name, r.Tags.Intent), HostConfig: host,
		Config: sandboxConfig(image, labels, env, exposed)}, nil
}

// sandboxConfig is what every sandbox is: a sleeping shell.
func sandboxConfig(image string, labels map[string]string, env []string, exposed network.PortSet) *container.Config {
	return &container.Config{Image: image, Labels: labels, Env: env, ExposedPorts: exposed,
		Entrypoint: []string{"/bin/sh", "-c", sleeper}, StopSignal: stopSignal}
}

func containerName(name, intent string) string {
	if name == "" && intent != "" {
		return "sbx-" + intent
	}
	return name
}

func (a *Adapter) checkRequest(r contract.CreateRequest) error {
	const op = "Create"
	switch {
	case (r.Image == "") == (r.FromSnapshot == ""):
		return a.refuse(op, "", "a sandbox is made from either an image or a snapshot")
	case r.Pull != "" && !slices.Contains(contract.PullPolicyValues(), r.Pull):
		return a.refuse(op, "", "unknown pull policy %q", r.Pull)
	case r.Egress != nil && r.Egress.Mode != contract.EgressModeAllowAll:
		return a.unsupported(op, "", "the Engine cannot enforce an egress policy")
	case len(r.Secrets) > 0:
		return a.unsupported(op, "", "the Engine brokers no secrets")
	case len(r.Mounts) > 0:
		return a.unsupported(op, string(contract.CapabilityMounts), "workspace mounts are not offered on the Engine")
	case r.Lifetime != nil:
		return a.unsupported(op, string(contract.CapabilityLifetime), "the Engine ends no container by time")
	case r.IdleTimeout != nil:
		return a.unsupported(op, "", "the Engine watches no idleness")
	case r.Class != "":
		return a.unsupported(op, "", "the Engine has no machine classes")
	case r.Region != "":
		return a.unsupported(op, "", "an Engine has no regions")
	}
	return nil
}

// environment returns the variables in name order, as the engine takes them.
func environment(env map[string]string) ([]string, error) {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if err := wire.CheckEnvName(name); err != nil {
			return nil, err
		}
		if strings.ContainsRune(env[name], 0) {
			return nil, errNUL(name)
		}
		out = append(out, name+"="+env[name])
	}
	return out, nil
}

// errNUL names the variable whose value has a NUL byte.
type errNUL string

func (e errNUL) Error() string {
	return "the environment variable " + string(e) + " has a value with a NUL byte"
}

func (a *Adapter) hostConfig(r *contract.Resources) (*container.HostConfig, error) {
	h := &container.HostConfig{NetworkMode: container.NetworkMode(a.cfg.Network), Runtime: a.cfg.Runtime}
	if r == nil {
		return h, nil
	}
	if r.DiskMiB != nil {
		return nil, a.unsupported("Create", "", "the Engine's default storage has no disk limit")
	}
	if r.CPUs != nil {
		if !(*r.CPUs > 0) || *r.CPUs > 1e6 {
			return nil, a.refuse("Create", "", "cpus must be a number above 0")
		}
		h.NanoCPUs = int64(math.Round(*r.CPUs * 1e9))
	}
	if r.MemoryMiB != nil {
		if *r.MemoryMiB <= 0 || *r.MemoryMiB > math.MaxInt64>>20 {
			return nil, a.refuse("Create", "", "memory must be above 0 MiB")
		}
		h.Memory = *r.MemoryMiB << 20
	}
	return h, nil
}

// publish binds ports to free ports of the engine host's loopback.
func (a *Adapter) publish(ports []int64, h *container.HostConfig) (network.PortSet, error) {
	if len(ports) == 0 {
		return nil, nil
	}
	if a.cfg.Network == "none" || a.cfg.Network == "host" {
		return nil, a.unsupported("Create", string(contract.CapabilityPorts),
			"ports cannot be published on the network "+a.cfg.Network)
	}
	if !a.local() {
		return nil, a.unsupported("Create", string(contract.CapabilityPorts),
			"ports are published on the engine host's loopback, which a remote caller cannot reach")
	}
	set := network.PortSet{}
	h.PortBindings = network.PortMap{}
	for _, n := range ports {
		if n < 1 || n > math.MaxUint16 {
			return nil, a.refuse("Create", "", "port %d is not within 1 and 65535", n)
		}
		p, _ := network.PortFrom(uint16(n), network.TCP)
		set[p] = struct{}{}
		h.PortBindings[p] = []network.PortBinding{{HostIP: netip.AddrFrom4([4]byte{127, 0, 0, 1})}}
	}
	return set, nil
}

// local reports whether the engine shares this machine's loopback.
func (a *Adapter) local() bool {
	if a.socket() {
		return true
	}
	u, err := client.ParseHostURL(a.cli.DaemonHost())
	if err != nil {
		return false
	}
	name := (&url.URL{Host: u.Host}).Hostname()
	ip, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && ip.IsLoopback()
}
