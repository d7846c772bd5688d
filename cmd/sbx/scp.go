package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/spf13/cobra"
)

func newScpCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "scp SRC DST",
		Short: "Copy files and directories into or out of a sandbox",
		Long: "scp copies between here and a sandbox, whose side is REF:PATH; a PATH that is not\n" +
			"absolute begins in the sandbox's working directory. As with cp -R, a DST that is a\n" +
			"directory, or ends in /, gets SRC inside it. Permission bits are kept, and symbolic\n" +
			"links inside a directory stay links. A file goes through the provider's file\n" +
			"operations, a directory through tar in the sandbox.",
		Example: "  sbx scp ./src $id:src\n  sbx scp $id:src/report.txt .",
		Args:    cobra.ExactArgs(2),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			refs, directive := a.completeRefs(cmd, args, typed)
			if directive == cobra.ShellCompDirectiveError {
				return nil, directive
			}
			for i, ref := range refs {
				name, about, _ := strings.Cut(ref, "\t")
				refs[i] = cobra.CompletionWithDesc(name+":", about)
			}
			return refs, cobra.ShellCompDirectiveNoSpace
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			from, fromIn := a.place(args[0])
			to, toIn := a.place(args[1])
			if fromIn == toIn {
				return usagef("one of SRC and DST is REF:PATH, and only one")
			}
			ctx, cancel := a.within(cmd)
			defer cancel()
			ref := or(from.ref, to.ref)
			return a.withSandbox(ctx, ref, func(sb *sandbox.Sandbox) error {
				c := &copying{app: a, sb: sb, view: copyView{Ref: sb.Ref().String()}}
				var err error
				if toIn {
					err = c.in(ctx, from.path, to.path)
				} else {
					err = c.out(ctx, from.path, to.path)
				}
				quietLine(ctx)
				if err != nil {
					return err
				}
				if a.json {
					return printJSON(a.out, c.view)
				}
				return nil
			})
		},
	}
}

// place is one side of a copy.
type place struct{ ref, path string }

// place reads SRC or DST. It is in a sandbox when it begins with a provider and a
// colon; the path begins at the first ":/" behind that, else at the last colon.
func (a *app) place(s string) (place, bool) {
	provider, rest, found := strings.Cut(s, ":")
	if _, known := a.find(provider); !found || !known {
		return place{path: s}, false
	}
	at := strings.Index(rest, ":/")
	if at < 0 {
		at = strings.LastIndex(rest, ":")
	}
	if at < 0 {
		return place{ref: s}, true
	}
	return place{ref: provider + ":" + rest[:at], path: rest[at+1:]}, true
}

// copyView is a copy in JSON.
type copyView struct {
	Ref   string `json:"ref"`
	From  string `json:"from"`
	To    string `json:"to"`
	Via   string `json:"via"`   // files: the provider's file operations; tar: in the sandbox
	Bytes int64  `json:"bytes"` // of content, or of the tar stream
}

// copying is one copy under way.
type copying struct {
	app  *app
	sb   *sandbox.Sandbox
	view copyView
}

// in copies from here into the sandbox.
func (c *copying) in(ctx context.Context, from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return localError(err)
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return usagef("%s is neither a file nor a directory", from)
	}
	to, err = c.target(ctx, to, filepath.Base(absolute(from)))
	if err != nil {
		return err
	}
	c.view.From, c.view.To = from, to
	if info.IsDir() {
		return c.treeIn(ctx, from, to, info.Mode().Perm())
	}
	f, err := os.Open(from)
	if err != nil {
		return localError(err)
	}
	c.view.Via, c.view.Bytes = "files", info.Size()
	content := port.WriteStream{Reader: &counted{ctx: ctx, r: f, what: filepath.Base(from), total: info.Size()}, Size: info.Size()}
	return join(c.sb.WriteFile(ctx, to, int(info.Mode().Perm()), content), f.Close())
}

// out copies from the sandbox to here.
func (c *copying) out(ctx context.Context, from, to string) error {
	from = c.absolute(from)
	kind, mode, err := c.kind(ctx, from)
	if err != nil {
		return err
	}
	if kind == "" {
		return &port.Error{Code: port.CodeNotFound, Op: "ReadFile", Provider: c.sb.Provider(), ID: c.sb.ID(), Outcome: port.OutcomeUnchanged,
			Reason: fmt.Sprintf("there is no %q in the sandbox", from)}
	}
	if info, err := os.Stat(to); err == nil && info.IsDir() || strings.HasSuffix(to, "/") {
		to = filepath.Join(to, path.Base(from))
	}
	c.view.From, c.view.To = from, to
	if kind == contract.FileTypeDirectory {
		return c.treeOut(ctx, from, to, mode)
	}
	s, err := c.sb.ReadFile(ctx, from)
	if err != nil {
		return err
	}
	c.view.Via = "files"
	n, err := keepFile(to, s.Mode, &counted{ctx: ctx, r: s, what: path.Base(from), total: s.Size})
	c.view.Bytes = n
	return join(err, s.Close())
}

// keepFile writes a file beside its place and moves it there when it is whole.
func keepFile(to string, mode *fs.FileMode, content io.Reader) (n int64, err error) {
	f, err := os.CreateTemp(filepath.Dir(to), ".sbx-*")
	if err != nil {
		return 0, localError(err)
	}
	defer func() {
		if err != nil {
			err = join(err, os.Remove(f.Name()))
		}
	}()
	perm := fs.FileMode(0o644)
	if mode != nil {
		perm = mode.Perm()
	}
	n, err = io.Copy(f, content)
	if err = join(err, f.Chmod(perm), f.Close()); err != nil {
		return n, err
	}
	return n, os.Rename(f.Name(), to)
}

// absolute is a path here whose last part is a name.
func absolute(p string) string {
	if abs, err := filepath.Abs(p); err == nil {
		return abs
	}
	return p
}

// absolute is a path in the sandbox; one that is relative begins where commands do.
func (c *copying) absolute(p string) string {
	if path.IsAbs(p) {
		return p
	}
	i := c.sb.Instance()
	return path.Join(or(or(i.WorkDir, i.HomeDir), "/"), p)
}

// target is where something called name goes when it is copied to p.
func (c *copying) target(ctx context.Context, p, name string) (string, error) {
	to := c.absolute(p)
	if p == "" || strings.HasSuffix(p, "/") {
		return path.Join(to, name), nil
	}
	kind, _, err := c.kind(ctx, to)
	if kind == contract.FileTypeDirectory {
		to = path.Join(to, name)
	}
	return to, err
}

// kindScript follows links, which Stat does not.
const kindScript = `if [ -d "$1" ]; then echo directory; elif [ -e "$1" ]; then echo file; fi`

// kind is what a path in the sandbox leads to, "" when there is nothing. The mode
// is that of a directory, 0 when it is not known.
func (c *copying) kind(ctx context.Context, p string) (contract.FileType, fs.FileMode, error) {
	if c.sb.Supports(contract.CapabilityFilesManage) {
		info, err := c.sb.Stat(ctx, p)
		switch {
		case port.CodeOf(err) == port.CodeNotFound:
			return "", 0, nil
		case err != nil:
			return "", 0, err
		case info.Type != contract.FileTypeSymlink:
			mode := fs.FileMode(0)
			if info.Mode != nil {
				mode = fs.FileMode(*info.Mode).Perm()
			}
			return info.Type, mode, nil
		}
	}
	res, err := c.sb.Run(ctx, "sh", "-c", kindScript, "sh", p)
	if err != nil {
		return "", 0, err
	}
	if res.ExitCode != 0 {
		return "", 0, commandFailed(c.sb, "looking at a path", int(res.ExitCode), res.Stderr)
	}
	return contract.FileType(strings.TrimSpace(string(res.Stdout))), 0, nil
}

// commandFailed: a command of sbx's own ended badly in the sandbox.
func commandFailed(sb *sandbox.Sandbox, what string, code int, stderr []byte) error {
	return &port.Error{Code: port.CodeProvider, Op: "Exec", Provider: sb.Provider(), ID: sb.ID(), Outcome: port.OutcomeUnknown,
		Reason: fmt.Sprintf("%s ended with exit code %d in the sandbox: %s", what, code, strings.TrimSpace(string(stderr)))}
}

// localError gives failures of this side their codes.
func localError(err error) error {
	code := port.CodeInvalidArgument
	switch {
	case errors.Is(err, fs.ErrNotExist):
		code = port.CodeNotFound
	case errors.Is(err, fs.ErrPermission):
		code = port.CodePermissionDenied
	}
	return &port.Error{Code: code, Op: "scp", Outcome: port.OutcomeUnchanged, Reason: "on this side", Err: err}
}

// counted tells how much of a stream has passed.
type counted struct {
	ctx   context.Context
	r     io.Reader
	what  string
	total int64
	n     int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	port.ReportProgress(c.ctx, port.Progress{Phase: c.what, Current: c.n, Total: max(c.total, 0)})
	return n, err
}
