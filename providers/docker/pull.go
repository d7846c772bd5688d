package docker

import (
	"context"

	"github.com/moby/moby/client"

	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

// pull fetches an image and reports its layers. Cancelling the context ends
// the request, upon which the engine stops the download and keeps no image;
// layers that were complete stay in its cache.
func (a *Adapter) pull(ctx context.Context, image string) error {
	port.ReportProgress(ctx, port.Progress{Phase: "pull", Detail: image})
	// A pull adds to the engine's image cache and to nothing else: repeating it
	// is harmless, so a lost answer leaves nothing in doubt.
	err := a.do(ctx, "Create", "", wire.Read, func(ctx context.Context) error {
		resp, err := a.cli.ImagePull(ctx, image, client.ImagePullOptions{})
		if err != nil {
			return err
		}
		for msg, err := range resp.JSONMessages(ctx) {
			if err != nil {
				return err
			}
			if msg.Error != nil {
				return &port.Error{Code: port.CodeProvider, Op: "Create", Provider: a.variant.ProviderID,
					Outcome: port.OutcomeUnchanged, Reason: "the engine could not pull the image", Err: msg.Error}
			}
			p := port.Progress{Phase: "pull", Detail: msg.ID}
			if msg.Progress != nil {
				p.Current, p.Total = msg.Progress.Current, msg.Progress.Total
			}
			port.ReportProgress(ctx, p)
		}
		return ctx.Err() // a stream that ends with the context was cut, not complete
	})
	return err
}
