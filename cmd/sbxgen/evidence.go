package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentworkforce/sbx/internal/evidence"
	"github.com/agentworkforce/sbx/internal/gen"
	"github.com/agentworkforce/sbx/internal/gitleaks"
)

func newEvidenceCmd(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "evidence",
		Short: "Collect, sign, verify, show and repeat the runs that prove what a provider claims",
		Long: "evidence keeps runs as folders, evidence/PROVIDER/RUN. A run is named by its folder, by\n" +
			"PROVIDER/RUN, or by PROVIDER alone for the latest one. What such a folder proves, and\n" +
			"what it does not, is in docs/threat-model.md.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(newEvidenceKeyCmd(s), newEvidenceCollectCmd(s), newEvidenceSignCmd(s), newEvidenceVerifyCmd(s),
		newEvidenceShowCmd(s), newEvidenceReproduceCmd(s))
	return c
}

// treeRoot is the folder that holds evidence/ and catalog/.
func treeRoot(cmd *cobra.Command) (root, module string, err error) {
	folder, err := startFolder(cmd)
	if err != nil {
		return "", "", err
	}
	return moduleRoot(folder)
}

// findRun returns the slash path of a run's folder below root.
func findRun(root, name string) (string, error) {
	name = strings.TrimSuffix(filepath.ToSlash(name), "/")
	if strings.HasSuffix(name, "/"+evidence.StatementName) {
		name = path.Dir(name)
	}
	parts := strings.Split(strings.TrimPrefix(name, "evidence/"), "/")
	if len(parts) == 1 {
		latest, err := latestRun(root, parts[0])
		if err != nil {
			return "", err
		}
		parts = append(parts, latest)
	}
	dir := path.Join(append([]string{"evidence"}, parts...)...)
	info, err := os.Stat(filepath.Join(root, filepath.FromSlash(dir)))
	if len(parts) != 2 || !fs.ValidPath(dir) || err != nil || !info.IsDir() {
		return "", usagef("there is no run %q below %s", name, filepath.Join(root, "evidence"))
	}
	return dir, nil
}

// latestRun is the run of a provider with the greatest name, which begins with
// its time.
func latestRun(root, provider string) (string, error) {
	runs, err := runsOf(root, provider)
	if err != nil {
		return "", err
	}
	if len(runs) == 0 {
		return "", usagef("there is no run of %q; make one with: sbxgen evidence collect %s", provider, provider)
	}
	return runs[len(runs)-1], nil
}

// runsOf lists the runs of a provider by time.
func runsOf(root, provider string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(root, "evidence", provider))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			out = append(out, e.Name())
		}
	}
	slices.Sort(out)
	return out, nil
}

// readBundle reads a run's folder; no link leads out of it.
func readBundle(root, dir string) (b *evidence.Bundle, err error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return evidence.Read(r.FS(), dir)
}

// readKeys reads the key list; findings about it are printed.
func readKeys(s streams, root string) (*evidence.Keys, error) {
	src, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(evidence.KeysFile)))
	if errors.Is(err, fs.ErrNotExist) {
		return &evidence.Keys{}, nil
	}
	if err != nil {
		return nil, err
	}
	keys, found, err := evidence.ParseKeys(evidence.KeysFile, src)
	if err != nil {
		return nil, err
	}
	if err := printFindings(s.err, found, root); err != nil {
		return nil, err
	}
	return keys, nil
}

// currentOf describes a provider of a project as it stands.
func currentOf(p *gen.Project, m *gen.Manifest) (now *evidence.Current, err error) {
	r, err := os.OpenRoot(p.Root)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return evidence.NewCurrent(r.FS(), m.Dir, m.Value())
}

func manifestOf(p *gen.Project, id string) (*gen.Manifest, bool) {
	i := slices.IndexFunc(p.Manifests, func(m *gen.Manifest) bool { return m.ID() == id })
	if i < 0 {
		return nil, false
	}
	return p.Manifests[i], true
}

func newEvidenceSignCmd(s streams) *cobra.Command {
	var keyFile string
	var replace bool
	c := &cobra.Command{
		Use:   "sign RUN",
		Short: "Sign the statement of a run with a key file",
		Long: "sign writes statement.dsse.json beside the statement: a DSSE envelope of its exact bytes.\n" +
			"The key is read from --key, or, as CI keeps it, from the variable SBX_EVIDENCE_KEY as\n" +
			"PEM. A key that evidence/keys.yaml does not list signs too, and proves nothing.\n\n" +
			"A signature by another key, or over another statement, is somebody's word: it is replaced\n" +
			"with --replace only.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			root, _, err := treeRoot(cmd)
			if err != nil {
				return err
			}
			dir, err := findRun(root, args[0])
			if err != nil {
				return err
			}
			key, err := signingKey(s, keyFile)
			if err != nil {
				return usageError{err}
			}
			return signRun(cmd, s, root, dir, key, replace)
		},
	}
	c.Flags().StringVar(&keyFile, "key", "", "`file` with the private key, mode 0600")
	c.Flags().BoolVar(&replace, "replace", false, "replace a signature by another key or over another statement")
	return c
}

func signingKey(s streams, file string) (evidence.PrivateKey, error) {
	if file != "" {
		return evidence.ReadKeyFile(file)
	}
	if text := s.getenv("SBX_EVIDENCE_KEY"); text != "" {
		return evidence.ParsePrivateKey([]byte(text))
	}
	return evidence.PrivateKey{}, errors.New("no key: give --key FILE, or set SBX_EVIDENCE_KEY")
}

// signRun signs a folder whose files are what the statement says.
func signRun(cmd *cobra.Command, s streams, root, dir string, key evidence.PrivateKey, replace bool) error {
	b, err := readBundle(root, dir)
	if err != nil {
		return err
	}
	signed, there := b.Files[evidence.EnvelopeName]
	delete(b.Files, evidence.EnvelopeName)
	deep, err := gitleaks.New()
	if err != nil {
		return err
	}
	found, err := evidence.Verify(b, evidence.Options{Now: time.Now(), Deep: deep})
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(f evidence.Finding) bool {
		return f.Kind.Class() != evidence.ClassIntegrity && f.Kind.Class() != evidence.ClassSecrecy
	})
	if len(found) > 0 {
		printEvidenceFindings(s.out, dir, found)
		fmt.Fprintln(s.err, "nothing was signed: the files are not what the statement says, or must not be published")
		return findingsError{}
	}
	envelope, err := evidence.Sign(cmd.Context(), b.Files[evidence.StatementName], key)
	if err != nil {
		return err
	}
	if there && !replace && !bytes.Equal(signed, envelope) { // the signature of a key over bytes is always the same
		return usagef("%s/%s is a signature by another key, or over another statement than the one there now; "+
			"nothing was written. To replace it, give --replace", dir, evidence.EnvelopeName)
	}
	if err := evidence.WriteEnvelope(root, dir, envelope); err != nil {
		return err
	}
	keys, err := readKeys(s, root)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "signed %s with %s\n", dir, key)
	if _, listed := keys.Find(key.ID()); !listed {
		fmt.Fprintf(s.err, "%s is not listed in %s, so the signature counts for nothing yet\n", key, evidence.KeysFile)
	}
	return nil
}
