package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentworkforce/sbx/internal/evidence"
	"github.com/agentworkforce/sbx/internal/secretscan"
)

func newEvidenceKeyCmd(s streams) *cobra.Command {
	var owner string
	var days int
	var list bool
	c := &cobra.Command{
		Use:   "key FILE",
		Short: "Make a key for signing runs: the private half in FILE, outside of the tree",
		Long: "key writes a new ed25519 private key to FILE, mode 0600, which has to lie outside of the\n" +
			"tree and must not exist, and prints the public half as an entry of evidence/keys.yaml.\n" +
			"With --list the entry is appended there; a review decides whether it stays.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if owner == "" {
				return usagef("--owner is needed: somebody answers for every key")
			}
			if found := secretscan.Scan([]byte(owner), secretscan.Options{Entropy: true}); len(found) > 0 {
				return usagef("--owner: %s; give a name, it is written into %s", found[0].What, evidence.KeysFile)
			}
			root, _, err := treeRoot(cmd)
			if err != nil {
				return err
			}
			return makeKey(s, root, args[0], owner, days, list)
		},
	}
	c.Flags().StringVar(&owner, "owner", "", "who answers for the key")
	c.Flags().IntVar(&days, "days", 365, "how many days it counts")
	c.Flags().BoolVar(&list, "list", false, "append the entry to evidence/keys.yaml")
	return c
}

func makeKey(s streams, root, file, owner string, days int, list bool) error {
	key, err := evidence.NewPrivateKey(rand.Reader)
	if err != nil {
		return err
	}
	err = evidence.WriteKeyFile(file, root, key)
	if errors.Is(err, evidence.ErrInsideTree) || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	from := time.Now().UTC().Truncate(24 * time.Hour)
	entry := key.Entry(owner, from, from.AddDate(0, 0, days))
	fmt.Fprintf(s.err, "wrote the private half to %s; keep it out of every tree\n", file)
	if !list {
		_, err := fmt.Fprintf(s.out, "keys:\n%s", entry)
		return err
	}
	name := filepath.Join(root, filepath.FromSlash(evidence.KeysFile))
	src, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		src, err = []byte("# Whose signatures count, and when. Changed in reviewed commits only.\nkeys:\n"), os.MkdirAll(filepath.Dir(name), 0o755)
	}
	if err != nil {
		return err
	}
	src = append(src, entry...)
	if _, found, err := evidence.ParseKeys(evidence.KeysFile, src); err != nil || len(found) > 0 {
		return errors.Join(err, printFindings(s.err, found, root), usagef("%s cannot be extended; paste the entry yourself:\n%s", evidence.KeysFile, entry))
	}
	if err := os.WriteFile(name, src, 0o644); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "listed %s in %s\n", key, evidence.KeysFile)
	return err
}
