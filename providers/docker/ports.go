package docker

import (
	"context"
	"net"
	"net/url"

	"github.com/moby/moby/api/types/network"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// PortURL says where a port published at create is reached: a port of the
// engine host's loopback, open to every process on that host. The number
// changes when the sandbox is stopped and started. Only TCP is published; the
// scheme is http because most of what listens is.
func (a *Adapter) PortURL(ctx context.Context, id string, number int) (contract.PortAccess, error) {
	const op = "PortURL"
	if number < 1 || number > 65535 {
		return contract.PortAccess{}, a.refuse(op, id, "port %d is not within 1 and 65535", number)
	}
	c, err := a.inspect(ctx, op, id)
	if err != nil {
		return contract.PortAccess{}, err
	}
	want, _ := network.PortFrom(uint16(number), network.TCP)
	if c.NetworkSettings != nil && c.State.Running {
		for _, b := range c.NetworkSettings.Ports[want] {
			if b.HostPort == "" {
				continue
			}
			u := url.URL{Scheme: "http", Host: net.JoinHostPort(b.HostIP.String(), b.HostPort)}
			return contract.PortAccess{Port: int64(number), URL: u.String(), Audience: contract.PortAudienceHost}, nil
		}
	}
	return contract.PortAccess{}, a.errorf(op, id, port.CodeFailedPrecondition, port.OutcomeUnchanged,
		"port %d is not published by a running sandbox; name it at create", number)
}
