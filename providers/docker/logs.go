package docker

import (
	"context"
	"io"
	"strconv"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

// Logs opens what the sandbox's main process, and whatever writes to its
// standard streams through /proc/1/fd, has printed; both streams are merged.
// Output of commands is not in it. The context covers the opening alone.
func (a *Adapter) Logs(ctx context.Context, id string, request contract.LogsRequest) (port.ReadStream, error) {
	const op = "Logs"
	if request.Tail != nil && *request.Tail < 0 {
		return port.ReadStream{}, a.refuse(op, id, "the number of lines is below 0")
	}
	if err := a.mine(ctx, op, id); err != nil {
		return port.ReadStream{}, err
	}
	opts := client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Follow: request.Follow}
	if request.Tail != nil {
		opts.Tail = strconv.FormatInt(*request.Tail, 10)
	}
	if request.Since != nil {
		opts.Since = request.Since.UTC().Format(time.RFC3339Nano)
	}
	live, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel)
	var logs client.ContainerLogsResult
	err := a.do(live, op, id, wire.Read, func(ctx context.Context) (err error) {
		logs, err = a.cli.ContainerLogs(ctx, id, opts)
		return err
	})
	if !stop() { // why the opening ended is the caller's context, not the one made here
		err = a.translate(ctx, op, id, wire.Read, true, ctx.Err())
	}
	if err != nil {
		cancel()
		return port.ReadStream{}, err
	}
	r, w := io.Pipe()
	go func() {
		_, err := stdcopy.StdCopy(w, w, logs)
		w.CloseWithError(err) // documented to return nil always
	}()
	return port.ReadStream{ReadCloser: &logStream{PipeReader: r, body: logs, cancel: cancel}, Size: -1}, nil
}

// logStream ends the engine's stream when its reader is done with it.
type logStream struct {
	*io.PipeReader
	body   io.Closer
	cancel context.CancelFunc
}

// Close ends the stream. It is idempotent.
func (s *logStream) Close() error {
	s.cancel()
	if err := s.PipeReader.Close(); err != nil {
		return err
	}
	return s.body.Close()
}
