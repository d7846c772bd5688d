package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/agentworkforce/sbx/internal/testengine"
)

// findEngine finds the engine, with the test image on it. The reason is why
// there is nothing to measure with.
func findEngine(ctx context.Context) (e *testengine.Engine, reason string, err error) {
	if host := os.Getenv("DOCKER_HOST"); host != "" && !strings.HasPrefix(host, "unix://") {
		return nil, "DOCKER_HOST is no unix socket", nil
	}
	e, err = testengine.Find(ctx, "docker")
	if missing, ok := errors.AsType[*testengine.MissingError](err); ok {
		return nil, missing.Why, nil
	}
	return e, "", err
}

func socket() string {
	if path, ok := strings.CutPrefix(os.Getenv("DOCKER_HOST"), "unix://"); ok {
		return path
	}
	return "/var/run/docker.sock"
}

// engine is the Engine API with nothing around it.
type engine struct{ http *http.Client }

func newEngine() engine {
	return engine{&http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket())
	}}}}
}

// call makes one request and requires its status.
func (e engine) call(ctx context.Context, method, path string, status int, in, out any) error {
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://engine/v1.41"+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := e.http.Do(req)
	if err != nil {
		return err
	}
	answer, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return err
	}
	if resp.StatusCode != status {
		return fmt.Errorf("%s %s: status %d, not %d: %.200s", method, path, resp.StatusCode, status, answer)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer, out)
}

// life is one container from create to absence, with one command in it: the
// least number of requests that does it, which are seven.
func (e engine) life(ctx context.Context) error {
	var made struct{ ID string }
	spec := map[string]any{"Image": testengine.Image, "Entrypoint": []string{"sleep", "3600"},
		"HostConfig": map[string]any{"NetworkMode": "none"}}
	if err := e.call(ctx, "POST", "/containers/create", 201, spec, &made); err != nil {
		return err
	}
	at := "/containers/" + made.ID
	steps := func() error {
		if err := e.call(ctx, "POST", at+"/start", 204, nil, nil); err != nil {
			return err
		}
		return e.exec(ctx, at)
	}
	err := steps()
	if removeErr := e.call(context.WithoutCancel(ctx), "DELETE", at+"?force=1&v=1", 204, nil, nil); removeErr != nil {
		return errors.Join(err, removeErr)
	}
	return errors.Join(err, e.call(ctx, "GET", at+"/json", 404, nil, nil))
}

// exec runs one command in a container, with the least number of requests that
// does it and learns its exit code, which are three.
func (e engine) exec(ctx context.Context, at string) error {
	var run struct{ ID string }
	var end struct{ ExitCode *int }
	command := map[string]any{"AttachStdout": true, "AttachStderr": true, "Cmd": []string{"echo", "hi"}}
	if err := e.call(ctx, "POST", at+"/exec", 201, command, &run); err != nil {
		return err
	}
	if err := e.call(ctx, "POST", "/exec/"+run.ID+"/start", 200, map[string]any{}, nil); err != nil {
		return err
	}
	if err := e.call(ctx, "GET", "/exec/"+run.ID+"/json", 200, nil, &end); err != nil {
		return err
	}
	if end.ExitCode == nil || *end.ExitCode != 0 {
		return errors.New("the command did not exit 0")
	}
	return nil
}

// mainProcess is one container from create to removal whose main process is the
// command.
func (e engine) mainProcess(ctx context.Context) error {
	var made struct{ ID string }
	var end struct{ StatusCode *int }
	spec := map[string]any{"Image": testengine.Image, "Cmd": []string{"echo", "hi"}, "HostConfig": map[string]any{"NetworkMode": "none"}}
	if err := e.call(ctx, "POST", "/containers/create", 201, spec, &made); err != nil {
		return err
	}
	at := "/containers/" + made.ID
	err := e.call(ctx, "POST", at+"/start", 204, nil, nil)
	if err == nil {
		err = e.call(ctx, "POST", at+"/wait", 200, nil, &end)
	}
	if err == nil && (end.StatusCode == nil || *end.StatusCode != 0) {
		err = errors.New("the command did not exit 0")
	}
	return errors.Join(err, e.call(context.WithoutCancel(ctx), "DELETE", at+"?force=1&v=1", 204, nil, nil))
}
