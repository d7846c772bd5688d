package main

import (
	"io"
	"iter"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/spf13/cobra"
)

func keys(m map[string]string) iter.Seq[string] { return maps.Keys(m) }

// resourcesText is compute in words; what is not known is left out.
func resourcesText(r *contract.Resources) string {
	if r == nil {
		return ""
	}
	var parts []string
	if r.CPUs != nil {
		parts = append(parts, strconv.FormatFloat(*r.CPUs, 'f', -1, 64)+" CPUs")
	}
	if r.MemoryMiB != nil {
		parts = append(parts, size(*r.MemoryMiB<<20)+" memory")
	}
	if r.DiskMiB != nil {
		parts = append(parts, size(*r.DiskMiB<<20)+" disk")
	}
	return strings.Join(parts, ", ")
}

// portView is a published port in JSON.
type portView struct {
	Ref    string              `json:"ref"`
	Access contract.PortAccess `json:"access"`
}

func newPortsCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "ports REF PORT",
		Short:             "Print where a published port is reached",
		Long:              "ports prints the URL of a port that was published with sbx new --port.",
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.completeRef,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := a.within(cmd)
			defer cancel()
			number, err := strconv.Atoi(args[1])
			if err != nil || number < 1 || number > 65535 {
				return usagef("%q is not a port", args[1])
			}
			return a.withSandbox(ctx, args[0], func(sb *sandbox.Sandbox) error {
				access, err := sb.PortURL(ctx, number)
				if err != nil {
					return err
				}
				if a.json {
					return printJSON(a.out, portView{Ref: sb.Ref().String(), Access: access})
				}
				if err := a.say(access.URL); err != nil || a.width(a.err) == 0 {
					return err
				}
				return a.note("who may open it: %s", access.Audience)
			})
		},
	}
}

// logsView is a log in JSON, whole.
type logsView struct {
	Ref string `json:"ref"`
	Log string `json:"log"`
}

func newLogsCmd(a *app) *cobra.Command {
	var follow bool
	var tail int64
	var since time.Duration
	cmd := &cobra.Command{
		Use:               "logs REF",
		Short:             "Print the log of a sandbox",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeRef,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := a.within(cmd)
			defer cancel()
			request := contract.LogsRequest{Follow: follow}
			if cmd.Flags().Changed("tail") {
				request.Tail = &tail
			}
			if since > 0 {
				at := time.Now().Add(-since)
				request.Since = &at
			}
			if tail < 0 || follow && a.json {
				return usagef("--tail is positive, and --json takes no --follow")
			}
			return a.withSandbox(ctx, args[0], func(sb *sandbox.Sandbox) error {
				log, err := sb.Logs(ctx, request)
				if err != nil {
					return err
				}
				if !a.json {
					_, err = io.Copy(a.out, log)
					return join(followed(ctx.Err() != nil && follow, err), log.Close())
				}
				raw, err := io.ReadAll(log)
				if err = join(err, log.Close()); err != nil {
					return err
				}
				return printJSON(a.out, logsView{Ref: sb.Ref().String(), Log: strings.ToValidUTF8(string(raw), "\uFFFD")})
			})
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with new lines until Ctrl-C")
	cmd.Flags().Int64Var(&tail, "tail", 0, "the last `N` lines only")
	cmd.Flags().DurationVar(&since, "since", 0, "only what is younger than `D`")
	return cmd
}

// followed: Ctrl-C is how following ends.
func followed(ended bool, err error) error {
	if ended {
		return nil
	}
	return err
}

func newPromptCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "prompt REF TEXT",
		Short:             "Hand a task to an agent inside (where there is one)",
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.completeRef,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withProvider(cmd.Context(), args[0], func(p *sandbox.Provider, native string) error {
				return refused(p, "Prompt", native, contract.CapabilityPrompt)
			})
		},
	}
}

func newExtendCmd(a *app) *cobra.Command {
	var ttl time.Duration
	cmd := &cobra.Command{
		Use:               "extend REF --ttl D",
		Short:             "Change when the vendor ends a sandbox",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeRef,
		RunE: func(cmd *cobra.Command, args []string) error {
			if ttl <= 0 {
				return usagef("extend wants --ttl D")
			}
			return a.withProvider(cmd.Context(), args[0], func(p *sandbox.Provider, native string) error {
				return refused(p, "Extend", native, contract.CapabilityLifetime)
			})
		},
	}
	cmd.Flags().DurationVar(&ttl, "ttl", 0, "end it `D` from now")
	return cmd
}

func newAdoptCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "adopt REF",
		Short: "Take ownership of a sandbox made elsewhere",
		Long: "adopt records in the ledger that a sandbox is this owner's from now on, and kept; then\n" +
			"stop, rm and their like work. What the vendor stores is not changed.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := a.within(cmd)
			defer cancel()
			return a.withSandbox(ctx, args[0], func(sb *sandbox.Sandbox) error {
				if a.json {
					return printJSON(a.out, infoView{Ref: sb.Ref().String(), Provider: sb.Provider(), Owned: sb.Owned(),
						Disposition: "kept", Instance: sb.Instance()})
				}
				return a.say(sb.Ref())
			}, sandbox.Adopt())
		},
	}
}

func newEgressCheckCmd(a *app) *cobra.Command {
	var policy []string
	var uncontained bool
	cmd := &cobra.Command{
		Use:   "egress-check --provider P --policy ALLOW",
		Short: "Say what would become of an egress policy",
		Long: "egress-check decides as sbx new would, before anything starts and without asking\n" +
			"anybody. Exit code 4: it would be refused.",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			ids, err := a.chosen()
			if err != nil {
				return err
			}
			parsed, err := egressPolicy(policy)
			if err != nil {
				return err
			}
			if len(ids) != 1 || parsed == nil {
				return usagef("egress-check wants one --provider and a --policy")
			}
			return a.egressCheck(ids[0], parsed, uncontained)
		},
	}
	cmd.Flags().StringSliceVar(&policy, "policy", nil, "`ALLOW` only host,cidr,...; or deny-all, allow-all")
	cmd.Flags().BoolVar(&uncontained, "allow-uncontained", false, "as sbx new --allow-uncontained")
	return cmd
}

// egressView is a decision about a policy in JSON.
type egressView struct {
	Provider    string                 `json:"provider"`
	Control     contract.EgressControl `json:"control"`
	Policy      *contract.EgressPolicy `json:"policy"`
	Disposition sandbox.Disposition    `json:"disposition"`
	Starts      bool                   `json:"starts"`
}

func (a *app) egressCheck(provider string, policy *contract.EgressPolicy, uncontained bool) error {
	d, _ := a.find(provider)
	v := egressView{Provider: provider, Control: d.Manifest.Egress, Policy: policy,
		Disposition: sandbox.EgressDisposition(d.Manifest.Egress, policy, uncontained)}
	v.Starts = v.Disposition != sandbox.DispositionRefuseUncontained && v.Disposition != sandbox.DispositionRefuseUnenforceable
	var err error
	if a.json {
		err = printJSON(a.out, v)
	} else {
		err = a.say(v.Disposition)
		err = join(err, a.note("%s enforces: %s", provider, v.Control))
		if d.Manifest.Egress == contract.EgressControlNone && d.Manifest.EgressDefault == contract.EgressModeDenyAll {
			err = join(err, a.note("its sandboxes reach nothing, with or without a policy: leave --egress out"))
		}
	}
	if err == nil && !v.Starts {
		return exitError{port.CodeUnsupported.ExitCode()}
	}
	return err
}
