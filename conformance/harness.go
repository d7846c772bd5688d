package conformance

import (
	"context"
	"regexp"
	"time"

	"github.com/agentworkforce/sbx/conformance/faults"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/agentworkforce/sbx/schema"
)

// Harness says how a provider is tested here. Driver is required; the zero
// value of everything else is useful. There is no way to leave a check out.
type Harness struct {
	// Driver is the provider under test.
	Driver sandbox.Driver
	// Options are how to open it. The state directory is a temporary one unless
	// an option sets it.
	Options []sandbox.Option
	// Create is what every sandbox of the run is created with: an image, a class.
	Create []sandbox.CreateOption
	// Preflight tells whether the vendor or engine can be reached with these
	// credentials. It must only read. An error makes every check that needs the
	// vendor unknown (auth-unavailable). nil means reachable.
	Preflight func(ctx context.Context) error
	// Count counts what exists at the vendor by kind (sandbox, snapshot, image),
	// without the adapter: the account's whole content, or the part that this
	// run's sandboxes are in. nil where there is no such way; the adapter's own
	// List is used then, and the report says so.
	Count func(ctx context.Context) (map[string]int, error)
	// Witness is a host within reach of the sandboxes that a check can listen on.
	// Without it nobody sees what a sandbox reaches.
	Witness Witness
	// Endpoint is what the adapter talks to, so that a check can stand in
	// between and spoil answers. Without it such checks are unknown.
	Endpoint Endpoint
	// Page is how many rows the vendor's listing gives at once; 0 is not known, or
	// everything.
	Page int
}

// Endpoint says where a vendor's HTTP API is and how to have the adapter talk to
// a stand-in. The zero value is none.
type Endpoint struct {
	// Network is unix or tcp; Address is the socket's path or host:port.
	Network, Address string
	// Through is the option that makes a provider use a stand-in, whose address is
	// unix:///path or tcp://host:port.
	Through func(address string) sandbox.Option
	// Limits are what the vendor answers to a create when a limit of the account is
	// reached: status and body. Without them nothing can imitate it.
	Limits []faults.Fault
	// Transfer reports whether a request has an image transferred, and Absent is an
	// image that the vendor does not have until that is done. Without them no
	// transfer can be broken off.
	Transfer func(method, path string) bool
	Absent   string
}

// Witness says how sandboxes that nothing is denied to reach this machine. Empty
// fields are not known.
type Witness struct {
	// Address is an IPv4 address of this machine: the loopback's, a bridge's.
	Address string
	// Name is a host name that stands for Address inside a sandbox.
	Name string
}

// hosts are the ways to say it.
func (w Witness) hosts() []string {
	out := []string{w.Address}
	if w.Name != "" {
		out = append(out, w.Name)
	}
	return out
}

// RunOptions change what Execute does. The zero value runs everything, one
// check at a time.
type RunOptions struct {
	// Run selects checks by ID; nil selects all. What a selected check depends
	// on runs too. The rest is unknown (not-attempted).
	Run *regexp.Regexp
	// Parallel is how many checks may run at once; less than 2 is one.
	Parallel int
	// Report is the file that the report is written to as JSON; empty writes none.
	Report string
	// Observer is told about progress. It may be called from several goroutines.
	Observer func(Progress)
	// CheckTimeout is the deadline of one check; 0 is 5 minutes.
	CheckTimeout time.Duration
	// Probing lets the run call capabilities whose support is unknown where the
	// adapter has methods for them.
	Probing bool
	// StateDir is the root of the run's ledgers, absolute; empty is a temporary
	// directory that is removed when nothing is owed any more.
	StateDir string
	// Dummy is a secret that the caller injected into this process on purpose. A
	// control after the checks looks for it inside a sandbox; empty leaves it out.
	Dummy string
	// Child starts another process that opens this same harness in stateDir,
	// makes one sandbox as role says, writes its ID on one line to standard
	// output and waits. Checks that need a process to die are unknown
	// (not-attempted) without it. Run provides one.
	Child func(ctx context.Context, role, stateDir string) (Child, error)
}

// Child is another process that holds a sandbox of this harness.
type Child interface {
	// ID waits until the child has a sandbox and returns its native ID.
	ID(ctx context.Context) (string, error)
	// Terminate asks the process to end; Kill ends it without asking.
	Terminate() error
	Kill() error
	// Wait waits until the process has ended, whatever its exit status.
	Wait(ctx context.Context) error
}

// Progress is told to an observer when a check starts and when it ends.
type Progress struct {
	Check schema.Check
	// Result is nil when the check starts.
	Result *Result
	// Done checks of Total have ended.
	Done, Total int
	// Elapsed since the run began.
	Elapsed time.Duration
}
