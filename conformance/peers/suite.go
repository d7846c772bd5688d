package peers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// Check is one of the peer's tests.
type Check struct {
	Number int
	Name   string
	run    func(ctx context.Context, b *box) error
}

// box is the sandbox that one test has.
type box struct {
	t   contract.Table
	i   contract.Instance
	dir string
}

// Checks are the 19 tests with every optional group switched on: files, streaming
// and addresses of ports.
func Checks() []Check {
	return []Check{
		{1, "a created sandbox has an id", hasID},
		{2, "echo gives its output and exit code 0", echo},
		{3, "a command in the background returns with exit code 0", background},
		{4, "a look-up has id and status", info},
		{5, "the address of a port looks like one", address},
		{6, "the address of a second port does too", address},
		{7, "a command that does not exist fails", unknownCommand},
		{8, "a written text file is read back", writeRead},
		{9, "a file exists after it was written, another one does not", exists},
		{10, "a directory can be made", mkdir},
		{11, "a directory lists the names in it", readdir},
		{12, "a file can be removed", remove},
		{13, "reading what is missing fails", readMissing},
		{14, "output of a stream comes before the command ends", streamLive},
		{15, "a stream tells the streams apart and gives exit code 3", streamSplit},
		{16, "a stream of 60 seconds ends at a deadline of 5", streamDeadline},
		{17, "an argument with blanks arrives", expect(`printf '%s' "two  blanks"`, "two  blanks")},
		{18, "a variable is expanded", expanded},
		{19, "a redirection can be read back", expect("echo kept > peer.txt && cat peer.txt", "kept\n")},
	}
}

// Run makes a sandbox, runs the test, and destroys the sandbox with its errors
// ignored, as the peer does.
func (c Check) Run(ctx context.Context, t contract.Table, r contract.CreateRequest) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	i, err := t.Create(ctx, r)
	if err != nil {
		return fmt.Errorf("before the test: %w", err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		if _, destroyErr := t.Destroy(ctx, i.ID); destroyErr != nil {
			return // the peer looks away here
		}
	}()
	return c.run(ctx, &box{t: t, i: i, dir: i.WorkDir})
}

func (b *box) sh(ctx context.Context, script string) (contract.ExecResult, error) {
	return b.t.Exec(ctx, b.i.ID, contract.Command{Script: script, Timeout: time.Minute})
}

func hasID(_ context.Context, b *box) error {
	if b.i.ID == "" {
		return errors.New("there is no id")
	}
	return nil
}

func expect(script, want string) func(context.Context, *box) error {
	return func(ctx context.Context, b *box) error {
		res, err := b.sh(ctx, script)
		switch {
		case err != nil:
			return err
		case res.ExitCode != 0 || !strings.Contains(string(res.Stdout), strings.TrimSuffix(want, "\n")):
			return fmt.Errorf("exit code %d, output %q", res.ExitCode, res.Stdout)
		}
		return nil
	}
}

func echo(ctx context.Context, b *box) error {
	return expect(`echo "Hello from command"`, "Hello from command")(ctx, b)
}

func background(ctx context.Context, b *box) error {
	res, err := b.sh(ctx, "sleep 1 > /dev/null 2>&1 &")
	if err == nil && res.ExitCode != 0 {
		err = fmt.Errorf("exit code %d", res.ExitCode)
	}
	return err
}

func info(ctx context.Context, b *box) error {
	i, err := b.t.Inspect(ctx, b.i.ID)
	if err == nil && (i.ID == "" || i.State == "") {
		err = fmt.Errorf("something is missing in %+v", i)
	}
	return err
}

func address(ctx context.Context, b *box) error {
	access, err := b.t.PortURL(ctx, b.i.ID, 3000)
	if err != nil {
		return err
	}
	u, err := url.Parse(access.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "ws" && u.Scheme != "wss" {
		return fmt.Errorf("%q is no address: %v", access.URL, err)
	}
	return nil
}

func unknownCommand(ctx context.Context, b *box) error {
	res, err := b.sh(ctx, "peer-no-such-command")
	if err == nil && res.ExitCode == 0 {
		err = errors.New("it ended with exit code 0")
	}
	return err
}

func expanded(ctx context.Context, b *box) error {
	res, err := b.sh(ctx, "echo $HOME")
	if err == nil && (res.ExitCode != 0 || strings.TrimSpace(string(res.Stdout)) == "" || strings.Contains(string(res.Stdout), "$HOME")) {
		err = fmt.Errorf("exit code %d, output %q", res.ExitCode, res.Stdout)
	}
	return err
}

func (b *box) write(ctx context.Context, name, text string) error {
	return b.t.WriteFile(ctx, b.i.ID, b.dir+"/"+name, 0o644,
		port.WriteStream{Reader: strings.NewReader(text), Size: int64(len(text))})
}

func (b *box) read(ctx context.Context, name string) (string, error) {
	s, err := b.t.ReadFile(ctx, b.i.ID, b.dir+"/"+name)
	if err != nil {
		return "", err
	}
	var text bytes.Buffer
	_, err = io.Copy(&text, s)
	return text.String(), errors.Join(err, s.Close())
}

func writeRead(ctx context.Context, b *box) error {
	const text = "Hello, World!"
	if err := b.write(ctx, "test.txt", text); err != nil {
		return err
	}
	got, err := b.read(ctx, "test.txt")
	if err == nil && got != text {
		err = fmt.Errorf("got %q", got)
	}
	return err
}

// there is the peer's exists(): any failure is a no.
func (b *box) there(ctx context.Context, name string) bool {
	_, err := b.t.Stat(ctx, b.i.ID, b.dir+"/"+name)
	return err == nil
}

func exists(ctx context.Context, b *box) error {
	if b.there(ctx, "no-such.txt") {
		return errors.New("a file that was never written exists")
	}
	if err := b.write(ctx, "exists.txt", "content"); err != nil {
		return err
	}
	if !b.there(ctx, "exists.txt") {
		return errors.New("a file that was written does not exist")
	}
	return nil
}

func mkdir(ctx context.Context, b *box) error {
	if err := b.t.Mkdir(ctx, b.i.ID, b.dir+"/made", 0o755); err != nil {
		return err
	}
	if !b.there(ctx, "made") {
		return errors.New("a directory that was made does not exist")
	}
	return nil
}

func readdir(ctx context.Context, b *box) error {
	err := errors.Join(b.t.Mkdir(ctx, b.i.ID, b.dir+"/listed", 0o755), b.write(ctx, "listed/one.txt", "1"), b.write(ctx, "listed/two.txt", "2"))
	if err != nil {
		return err
	}
	entries, err := b.t.ReadDir(ctx, b.i.ID, b.dir+"/listed")
	if err != nil {
		return err
	}
	var names string
	for _, e := range entries {
		names += " " + e.Path
	}
	if !strings.Contains(names, "one.txt") || !strings.Contains(names, "two.txt") {
		return fmt.Errorf("the names are%s", names)
	}
	return nil
}

func remove(ctx context.Context, b *box) error {
	if err := b.write(ctx, "removed.txt", "content"); err != nil {
		return err
	}
	if err := b.t.Remove(ctx, b.i.ID, b.dir+"/removed.txt", false); err != nil {
		return err
	}
	if b.there(ctx, "removed.txt") {
		return errors.New("a file that was removed exists")
	}
	return nil
}

func readMissing(ctx context.Context, b *box) error {
	if text, err := b.read(ctx, "no-such.txt"); err == nil {
		return fmt.Errorf("reading what is missing gave %q", text)
	}
	return nil
}
