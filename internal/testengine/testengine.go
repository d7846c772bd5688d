// Package testengine gives tests a running Docker Engine and a small image.
// It is test support: it reads the environment, which adapters do not.
package testengine

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

// Image is the name of the image that Require provides: busybox with every
// applet on the path, and an empty /tmp.
const Image = "sbx-test/busybox:1"

// Engine is a running Docker Engine, looked at directly and not through an
// adapter.
type Engine struct {
	Host string // its address, as DOCKER_HOST has it; empty is the default
	cli  *client.Client
}

// MissingError says what is not there: no engine, no runtime, or no image.
type MissingError struct {
	Need string // "docker", or the OCI runtime
	Why  string
	Err  error
}

// Error says what is missing and why.
func (e *MissingError) Error() string {
	if e.Err == nil {
		return e.Why
	}
	return e.Why + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *MissingError) Unwrap() error { return e.Err }

// Require returns the engine with Image on it. Where there is none the test
// is skipped, or fails when SBX_REQUIRE names what is missing. The needs beyond
// "docker" are OCI runtimes the engine must have, such as "runsc".
func Require(t testing.TB, needs ...string) *Engine {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	e, err := Find(ctx, needs...)
	if err != nil {
		RequireNamed(t, err)
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := e.cli.Close(); err != nil {
			t.Errorf("close the engine client: %v", err)
		}
	})
	return e
}

// RequireNamed fails the test when SBX_REQUIRE names what err says is missing.
func RequireNamed(t testing.TB, err error) {
	t.Helper()
	var missing *MissingError
	required := strings.Split(os.Getenv("SBX_REQUIRE"), ",")
	if !errors.As(err, &missing) || slices.Contains(required, missing.Need) {
		t.Fatalf("SBX_REQUIRE=%s: %v", os.Getenv("SBX_REQUIRE"), err)
	}
}

// Find returns the engine with Image on it, or a *MissingError.
func Find(ctx context.Context, needs ...string) (*Engine, error) {
	e := &Engine{Host: os.Getenv("DOCKER_HOST")}
	host := e.Host
	if host == "" {
		host = client.DefaultDockerHost
	}
	cli, err := client.New(client.WithHost(host))
	if err != nil {
		return nil, err
	}
	e.cli = cli
	info, err := cli.Info(ctx, client.InfoOptions{})
	if err != nil {
		return nil, errors.Join(&MissingError{Need: "docker", Why: "no Docker Engine answers", Err: err}, cli.Close())
	}
	for _, need := range needs {
		if _, ok := info.Info.Runtimes[need]; !ok && need != "docker" {
			return nil, errors.Join(&MissingError{Need: need, Why: "the engine lacks the runtime " + need}, cli.Close())
		}
	}
	if err := EnsureImage(ctx, cli); err != nil {
		return nil, errors.Join(&MissingError{Need: "docker", Why: "the test image cannot be made", Err: err}, cli.Close())
	}
	return e, nil
}

// EnsureImage imports Image unless the engine has it.
func EnsureImage(ctx context.Context, cli *client.Client) error {
	_, err := cli.ImageInspect(ctx, Image)
	if err == nil || !cerrdefs.IsNotFound(err) {
		return err
	}
	root, err := rootFS(ctx)
	if err != nil {
		return err
	}
	resp, err := cli.ImageImport(ctx, client.ImageImportSource{Source: root, SourceName: "-"}, Image, client.ImageImportOptions{})
	if err != nil {
		return err
	}
	defer resp.Close()
	_, err = new(bytes.Buffer).ReadFrom(resp)
	return err
}

// rootFS is a tar stream of a root file system around the static busybox.
func rootFS(ctx context.Context) (*bytes.Buffer, error) {
	file, err := exec.LookPath("busybox")
	if err != nil {
		return nil, err
	}
	program, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	list, err := exec.CommandContext(ctx, file, "--list").Output()
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	put := func(h tar.Header, content []byte) {
		h.Size = int64(len(content))
		if e := w.WriteHeader(&h); e != nil && err == nil {
			err = e
		}
		if _, e := w.Write(content); e != nil && err == nil {
			err = e
		}
	}
	for _, dir := range []string{"bin", "etc", "home", "root", "usr", "var"} {
		put(tar.Header{Name: dir + "/", Typeflag: tar.TypeDir, Mode: 0o755}, nil)
	}
	put(tar.Header{Name: "tmp/", Typeflag: tar.TypeDir, Mode: 0o1777}, nil)
	put(tar.Header{Name: "etc/passwd", Typeflag: tar.TypeReg, Mode: 0o644},
		[]byte("root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n"))
	put(tar.Header{Name: "etc/group", Typeflag: tar.TypeReg, Mode: 0o644}, []byte("root:x:0:\nnobody:x:65534:\n"))
	put(tar.Header{Name: "bin/busybox", Typeflag: tar.TypeReg, Mode: 0o755}, program)
	for applet := range strings.FieldsSeq(string(list)) {
		if applet != "busybox" {
			put(tar.Header{Name: path.Join("bin", applet), Typeflag: tar.TypeSymlink, Linkname: "busybox", Mode: 0o777}, nil)
		}
	}
	if e := w.Close(); e != nil && err == nil {
		err = e
	}
	return &buf, err
}
