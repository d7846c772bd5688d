// Package testengine gives tests a running Docker Engine and a small image.
// It is test support: it reads the environment, which adapters do not.
package testengine

import (
	"archive/tar"
	"bytes"
	"context"
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

// Require returns the engine with Image on it. Where there is none the test is
// skipped, or fails when SBX_REQUIRE names one of needs. The needs beyond
// "docker" are OCI runtimes the engine must have, such as "runsc".
func Require(t testing.TB, needs ...string) *Engine {
	t.Helper()
	required := strings.Split(os.Getenv("SBX_REQUIRE"), ",")
	missing := func(why string, err error, needs ...string) {
		t.Helper()
		for _, need := range needs {
			if slices.Contains(required, need) {
				t.Fatalf("SBX_REQUIRE names %q: %s: %v", need, why, err)
			}
		}
		t.Skipf("%s: %v", why, err)
	}
	all := append([]string{"docker"}, needs...)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	e := &Engine{Host: os.Getenv("DOCKER_HOST")}
	host := e.Host
	if host == "" {
		host = client.DefaultDockerHost
	}
	cli, err := client.New(client.WithHost(host))
	if err != nil {
		t.Fatalf("DOCKER_HOST: %v", err)
	}
	t.Cleanup(func() {
		if err := cli.Close(); err != nil {
			t.Errorf("close the engine client: %v", err)
		}
	})
	e.cli = cli
	info, err := cli.Info(ctx, client.InfoOptions{})
	if err != nil {
		missing("no Docker Engine answers", err, all...)
	}
	for _, need := range needs {
		if _, ok := info.Info.Runtimes[need]; !ok && need != "docker" {
			missing("the engine lacks the runtime "+need, nil, need)
		}
	}
	if err := EnsureImage(ctx, cli); err != nil {
		missing("the test image cannot be made", err, all...)
	}
	return e
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
