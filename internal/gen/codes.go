package gen

import (
	"encoding/json"
	"fmt"

	. "github.com/dave/jennifer/jen" //nolint:revive // jennifer reads as Go only when dot-imported

	"github.com/agentworkforce/sbx/schema"
)

// loadErrors reads schema/errors.json.
func loadErrors(src []byte) (*schema.ErrorData, error) {
	var d schema.ErrorData
	if err := json.Unmarshal(src, &d); err != nil {
		return nil, fmt.Errorf("errors.json: %w", err)
	}
	return &d, nil
}

// codesFile renders port/zz_generated_codes.go.
func codesFile(errors *schema.ErrorData) ([]byte, error) {
	f := NewFilePathName(portPath, "port")
	f.HeaderComment(generatedHeader("schema/errors.json"))
	f.Comment("The error codes of the contract.")
	f.Const().DefsFunc(func(g *Group) {
		for _, c := range errors.Codes {
			for _, line := range wrap("Code"+goName(c.Code)+": "+c.Doc, 90) {
				g.Comment(line)
			}
			g.Id("Code" + goName(c.Code)).Id("Code").Op("=").Lit(c.Code)
		}
	})
	comment(f, "ExitCode is the exit code by which a command reports an error of this code. A code nobody knows is 1.")
	f.Func().Params(Id("c").Id("Code")).Id("ExitCode").Params().Int().BlockFunc(func(g *Group) {
		g.Switch(Id("c")).BlockFunc(func(g *Group) {
			for _, e := range errors.Exits {
				var codes []Code
				for _, c := range errors.Codes {
					if c.Exit == e.Exit && e.Exit != 1 {
						codes = append(codes, Id("Code"+goName(c.Code)))
					}
				}
				if len(codes) > 0 {
					g.Case(codes...).Block(Return(Lit(e.Exit)))
				}
			}
		})
		g.Return(Lit(1))
	})
	return render(f)
}
