package invariants

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// linked is one package that a program gets by importing another.
type linked struct {
	ImportPath string
	Standard   bool
}

// limit says what the whole dependency closure of a package may hold.
type limit struct {
	pkg     string
	why     string
	refuses func(linked) bool
}

func limits() []limit {
	return []limit{
		{"sandbox", "an application that imports sbx gets the standard library and a file lock, nothing else", func(l linked) bool {
			return !l.Standard && !slices.Contains([]string{
				module + "/port", module + "/generated/contract", module + "/ledger", module + "/wire", module + "/sandbox",
				"github.com/gofrs/flock", // the ledger's lock: a free one means that the run is dead
				"golang.org/x/sys/unix",  // what flock needs where syscall lacks it
				"golang.org/x/sys/windows",
				"golang.org/x/sys/windows/registry", // where Windows keeps the identity of the machine, for the ledger
			}, l.ImportPath)
		}},
		{"cmd/sbxgen", "sbxgen builds and runs a provider where it lives and links none: it must work when one does not compile", func(l linked) bool {
			return strings.HasPrefix(l.ImportPath, module+"/providers/") || l.ImportPath == module+"/generated/registry"
		}},
		{"internal/gen/bootstrap", "it makes generated/ when that does not compile", func(l linked) bool {
			return strings.HasPrefix(l.ImportPath, module+"/generated/") || strings.HasPrefix(l.ImportPath, module+"/providers/")
		}},
		{"providers/local", "one provider does not bring another vendor's client", func(l linked) bool {
			return strings.HasPrefix(l.ImportPath, "github.com/moby/") || strings.HasPrefix(l.ImportPath, module+"/providers/") &&
				l.ImportPath != module+"/providers/local"
		}},
	}
}

func (l limit) broken(closure []linked) []string {
	var out []string
	for _, p := range closure {
		if l.refuses(p) {
			out = append(out, fmt.Sprintf("%s brings %s: %s", l.pkg, p.ImportPath, l.why))
		}
	}
	return out
}

// closure asks the Go command, which downloads nothing here.
func closure(t testing.TB, goos, pkg string) []linked {
	t.Helper()
	c := exec.Command("go", "list", "-deps", "-json=ImportPath,Standard", "./"+pkg)
	c.Dir = root(t)
	c.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0", "GOPROXY=off")
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	require.NoError(t, err, stderr.String())
	var all []linked
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var l linked
		if err := d.Decode(&l); err == io.EOF {
			return all
		} else {
			require.NoError(t, err)
		}
		all = append(all, l)
	}
}

func TestClosures(t *testing.T) {
	for _, l := range limits() {
		for _, goos := range []string{"linux", "darwin", "windows"} {
			got := closure(t, goos, l.pkg)
			require.Greater(t, len(got), 10)
			require.Contains(t, got, linked{ImportPath: module + "/" + l.pkg})
			require.Empty(t, l.broken(got), goos)
		}
	}
}

func TestClosureRules(t *testing.T) {
	for pkg, refused := range map[string]string{
		"sandbox":                "golang.org/x/net/http2",
		"cmd/sbxgen":             module + "/providers/docker",
		"internal/gen/bootstrap": module + "/generated/contract",
		"providers/local":        "github.com/moby/moby/client",
	} {
		i := slices.IndexFunc(limits(), func(l limit) bool { return l.pkg == pkg })
		require.GreaterOrEqual(t, i, 0, pkg)
		got := limits()[i].broken([]linked{{"fmt", true}, {module + "/" + pkg, false}, {refused, false}})
		require.Len(t, got, 1, pkg)
		require.Contains(t, got[0], refused)
	}
	require.Len(t, limits(), 4)
}
