// Command agent is the loop between a language model and a sandbox: the model
// asks for tools, the loop runs them in the sandbox and tells it what came of
// them, until the model asks for nothing more, the budget is spent, or you press
// Ctrl-C. The model here is a script, model.json, so no network is needed:
//
//	go run ./examples/agent local
//	go run ./examples/agent -image alpine docker
//	go run ./examples/agent -calls 2 local
package main

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/generated/registry"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

//go:embed model.json
var builtIn embed.FS

// use runs one tool. A command that fails is something to tell the model; an
// error is that nobody knows, and ends the loop.
func use(ctx context.Context, sb *sandbox.Sandbox, c call) (string, error) {
	switch c.Tool {
	case "write_file":
		name := path.Join(sb.Instance().WorkDir, c.Path)
		content := port.WriteStream{Reader: strings.NewReader(c.Content), Size: int64(len(c.Content))}
		return "written", sb.WriteFile(ctx, name, 0o644, content)
	case "run":
		res, err := sb.Exec(ctx, contract.Command{Script: c.Command, Timeout: time.Minute, OutputLimit: 4096})
		return fmt.Sprintf("exit %d: %s", res.ExitCode, strings.TrimSpace(string(res.Stdout)+string(res.Stderr))), err
	}
	return "there is no tool " + c.Tool, nil
}

// loop asks and acts until the model is done; budget is the calls it may make.
func loop(ctx context.Context, sb *sandbox.Sandbox, next model, budget int) error {
	var results []string
	for {
		t, err := next(ctx, results)
		if err != nil {
			return err
		}
		fmt.Println("model:", t.Say)
		if len(t.Calls) == 0 {
			return nil
		}
		results = nil
		for _, c := range t.Calls {
			if budget--; budget < 0 {
				return errors.New("the budget is spent")
			}
			fmt.Println(c.Tool+":", cmp.Or(c.Path, c.Command))
			result, err := use(ctx, sb, c)
			if err != nil {
				return err
			}
			fmt.Println("  ", result)
			results = append(results, result)
		}
	}
}

func run(ctx context.Context, id, image string, turns []turn, budget int) error {
	p, err := registry.Open(ctx, id)
	if err != nil {
		return err
	}
	err = sandbox.With(ctx, p, func(ctx context.Context, sb *sandbox.Sandbox) error {
		return loop(ctx, sb, scripted(turns), budget)
	}, sandbox.WithImage(image))
	return errors.Join(err, p.Close())
}

func main() {
	image := flag.String("image", "", "what to make the sandbox from; empty is the provider's default")
	file := flag.String("model", "", "another script than the one built in")
	calls := flag.Int("calls", 20, "most tools the model may use")
	limit := flag.Duration("time", 10*time.Minute, "longest time it may take")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	ctx, cancel := context.WithTimeout(ctx, *limit)
	script, err := builtIn.ReadFile("model.json")
	if *file != "" {
		script, err = os.ReadFile(*file)
	}
	var turns []turn
	if err = errors.Join(err, json.Unmarshal(script, &turns)); err == nil {
		err = run(ctx, flag.Arg(0), *image, turns, *calls)
	}
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}
