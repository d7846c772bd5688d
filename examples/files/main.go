// Command files copies a file of this machine into a sandbox and back, and
// compares bytes and permission bits on every side:
//
//	go run ./examples/files local LICENSE /tmp/copy
//	go run ./examples/files -image alpine docker LICENSE /tmp/copy
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
	"strings"

	"github.com/agentworkforce/sbx/generated/registry"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

// put sends a file with its permission bits. Its size is said beforehand, so a
// file that changes meanwhile is an error and not half a file.
func put(ctx context.Context, sb *sandbox.Sandbox, from, to string) (sum string, err error) {
	f, err := os.Open(from)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	content := port.WriteStream{Reader: io.TeeReader(f, hash), Size: info.Size()}
	err = sb.WriteFile(ctx, to, int(info.Mode().Perm()), content)
	return fmt.Sprintf("%x", hash.Sum(nil)), err
}

// get fetches a file with its permission bits, where the provider tells them.
func get(ctx context.Context, sb *sandbox.Sandbox, from, to string) (sum string, err error) {
	content, err := sb.ReadFile(ctx, from)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	f, err := os.Create(to)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	hash := sha256.New()
	if _, err := io.Copy(io.MultiWriter(f, hash), content); err != nil {
		return "", err
	}
	if content.Mode != nil {
		err = f.Chmod(*content.Mode)
	}
	return fmt.Sprintf("%x", hash.Sum(nil)), err
}

func thereAndBack(ctx context.Context, sb *sandbox.Sandbox, from, to string) error {
	inside := path.Join(sb.Instance().WorkDir, "file")
	sent, err := put(ctx, sb, from, inside)
	if err != nil {
		return err
	}
	seen, err := sb.Run(ctx, "sha256sum", inside)
	if err != nil {
		return err
	}
	got, err := get(ctx, sb, inside, to)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(string(seen.Stdout), sent+" ") || got != sent {
		return fmt.Errorf("sent %s, the sandbox has %s, and %s came back", sent, seen.Stdout, got)
	}
	fmt.Println("the same on every side:", sent)
	return nil
}

func run(ctx context.Context, id, image, from, to string) error {
	p, err := registry.Open(ctx, id)
	if err != nil {
		return err
	}
	err = sandbox.With(ctx, p, func(ctx context.Context, sb *sandbox.Sandbox) error {
		return thereAndBack(ctx, sb, from, to)
	}, sandbox.WithImage(image))
	return errors.Join(err, p.Close())
}

func main() {
	image := flag.String("image", "", "what to make the sandbox from; empty is the provider's default")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, flag.Arg(0), *image, flag.Arg(1), flag.Arg(2))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "files:", err)
		os.Exit(1)
	}
}
