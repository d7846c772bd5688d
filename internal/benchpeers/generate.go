package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// providerCount is how many providers the module has that generate works on.
const providerCount = 50

// fifty is a module outside of this one whose providers have the manifest of
// providers/docker under other names: nearly every capability there is.
type fifty struct {
	b    *bench
	dir  string
	made int
}

var idLine = regexp.MustCompile(`(?m)^id: docker$`)

func newFifty(b *bench, n int) (*fifty, error) {
	f := &fifty{b: b, dir: filepath.Join(b.dir, fmt.Sprintf("fifty%d", n)), made: n}
	src, err := os.ReadFile(filepath.Join(b.checkout, "providers", "docker", "provider.yaml"))
	if err != nil {
		return nil, err
	}
	if !idLine.Match(src) {
		return nil, fmt.Errorf("providers/docker/provider.yaml has no line %q", idLine)
	}
	mod := "module example.com/fifty\n\ngo 1.26\n\nrequire github.com/agentworkforce/sbx v0.0.0\n\n" +
		"replace github.com/agentworkforce/sbx => " + b.checkout + "\n"
	if err := writeFile(filepath.Join(f.dir, "go.mod"), []byte(mod)); err != nil {
		return nil, err
	}
	for i := range providerCount {
		id := fmt.Sprintf("p%02d", i)
		text := strings.ReplaceAll(idLine.ReplaceAllString(string(src), "id: "+id), "SBX_DOCKER_", "SBX_"+strings.ToUpper(id)+"_")
		if err := writeFile(filepath.Join(f.providers(), id, "provider.yaml"), []byte(text)); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *fifty) providers() string { return filepath.Join(f.dir, "providers") }

// again moves to a new folder with the manifests alone. Removing what an earlier
// run wrote would be measured with the next one: ext4 looks for a long time for
// the number of a new file when many were removed in the last seconds.
func (f *fifty) again(context.Context) error {
	next, err := newFifty(f.b, f.made+1)
	if err == nil {
		*f = *next
	}
	return err
}

func (f *fifty) generate(args ...string) command {
	return command{dir: f.dir, env: []string{"GOMAXPROCS=2"}, argv: append([]string{f.b.sbxgen, "generate"}, args...)}
}

// visible are the files of the tree that a person sees: what is under a name
// with a leading dot is the generator's own record.
func (f *fifty) visible() ([]string, error) {
	var out []string
	err := filepath.WalkDir(f.providers(), func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case !d.IsDir() && !strings.HasPrefix(d.Name(), "."):
			out = append(out, name)
		}
		return nil
	})
	return out, err
}

func generateCold(ctx context.Context, b *bench) ([]row, error) {
	f, err := newFifty(b, 0)
	if err != nil {
		return nil, err
	}
	ours := subject{name: "sbxgen generate", prepare: f.again, run: func(ctx context.Context) (sample, error) {
		return f.generate().run(ctx)
	}}
	floor := subject{name: "go/format of the same output", missing: b.peers.missing("formatfloor"),
		run: func(ctx context.Context) (sample, error) {
			return command{dir: f.dir, argv: []string{b.peers.path("formatfloor"), f.providers()}}.run(ctx)
		}}
	write := subject{name: "the same files written and made durable", run: f.writeAll}
	return compare(ctx, b.rounds, fmt.Sprintf("generate %d providers, cold", providerCount), ours,
		versus{floor, goal{ratio: 1.5}}, versus{write, goal{remains: "the disk's share of it"}})
}

// writeAll copies every file of the tree to a new folder and syncs each once:
// what it costs here to put that many files on the disk.
func (f *fifty) writeAll(context.Context) (sample, error) {
	files, err := f.visible()
	if err != nil {
		return sample{}, err
	}
	contents := make([][]byte, len(files))
	for i, name := range files {
		if contents[i], err = os.ReadFile(name); err != nil {
			return sample{}, err
		}
	}
	to, err := os.MkdirTemp(f.b.dir, "written-")
	if err != nil {
		return sample{}, err
	}
	begin := time.Now()
	for i, content := range contents {
		if err := writeDurably(filepath.Join(to, fmt.Sprint(i)), content); err != nil {
			return sample{}, err
		}
	}
	return sample{wall: time.Since(begin)}, nil
}

func writeDurably(name string, content []byte) (err error) {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := file.Close(); err == nil {
			err = closeErr
		}
	}()
	if _, err := file.Write(content); err != nil {
		return err
	}
	return file.Sync()
}

func generateCheck(ctx context.Context, b *bench) ([]row, error) {
	f, err := newFifty(b, 0)
	if err != nil {
		return nil, err
	}
	if _, err := f.generate().run(ctx); err != nil {
		return nil, err
	}
	files, err := f.visible()
	if err != nil {
		return nil, err
	}
	ours := subject{name: "sbxgen generate --check", run: f.generate("--check").run}
	return compare(ctx, 3*b.rounds, fmt.Sprintf("generate --check of %d providers, clean", providerCount), ours,
		versus{sha256sum(f.dir, files), goal{ratio: 2}})
}
