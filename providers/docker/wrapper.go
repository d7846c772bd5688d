package docker

import (
	"bytes"
	"io"
	"strings"
	"sync"

	"github.com/agentworkforce/sbx/generated/contract"
)

// markVariable is set for every process of a command, so that all of them can
// be found again, whatever session or parent they moved to.
const markVariable = "SBX_COMMAND"

// maxArgument is the longest argument Linux passes to a program, in bytes.
const maxArgument = 128<<10 - 1

// unusableExit is the wrapper's exit code next to its report that the working
// directory cannot be entered. The report decides, not the code.
const unusableExit = "125"

// enterScript runs before every command: it enters the directory, reports the
// process ID that the command will have, and becomes the command. $1 is the
// command's mark, $2 the directory or nothing. No variable is set, because an
// exported one would change in the command's environment. The report is the
// first line of standard error: nothing else can have written there yet.
const enterScript = `[ -z "$2" ] || CDPATH= cd -- "$2" 2>/dev/null || { printf '%s W\n' "$1" >&2; exit ` + unusableExit + `; }
printf '%s %s\n' "$1" "$$" >&2
shift 2
exec "$@"`

// enterTerminalScript also sets the terminal's size ($3 rows, $4 columns)
// before the command can look at it. S in the report says that it could not.
const enterTerminalScript = `[ -z "$2" ] || CDPATH= cd -- "$2" 2>/dev/null || { printf '%s W\n' "$1" >&2; exit ` + unusableExit + `; }
if stty rows "$3" cols "$4" 2>/dev/null; then printf '%s %s\n' "$1" "$$" >&2; else printf '%s %s S\n' "$1" "$$" >&2; fi
shift 4
exec "$@"`

// killScript ends every process of a command: those of its session ($2, empty
// when not known) and those that carry its mark ($1). It looks again until it
// finds none, because a process may start another while it is being killed.
// It exits 0 when none was left. Zombies are dead: only their parent has not
// looked yet. (Not every grep looks beyond a NUL byte, hence tr.)
const killScript = `n=0
while [ "$n" -lt 100 ]; do
	n=$((n + 1)) found=
	for dir in /proc/[0-9]*; do
		pid=${dir#/proc/}
		[ "$pid" != "$$" ] || continue
		{ IFS= read -r stat <"$dir/stat"; } 2>/dev/null || continue
		set -- "$1" "$2" ${stat##*) }
		case $3 in Z | X | x) continue ;; esac
		if [ -n "$2" ] && { [ "$pid" = "$2" ] || [ "$5" = "$2" ] || [ "$6" = "$2" ]; }; then
			kill -KILL "$pid" 2>/dev/null
			found=1
		elif { tr '\000' '\n' <"$dir/environ"; } 2>/dev/null | grep -q -x -F -e "` + markVariable + `=$1"; then
			kill -KILL "$pid" 2>/dev/null
			found=1
		fi
	done
	[ -n "$found" ] || exit 0
done
exit 1`

// wrap composes the arguments of a command's exec.
func wrap(mark string, c contract.Command, script string, extra ...string) []string {
	dir := c.Dir
	if dir != "" && dir[0] != '/' {
		dir = "./" + dir // "-" is a directory here, not the previous one
	}
	argv := append([]string{"/bin/sh", "-c", script, "sbx", mark, dir}, extra...)
	if c.Script != "" {
		return append(argv, "/bin/sh", "-c", c.Script)
	}
	return append(argv, c.Argv...)
}

// report is what the wrapper says before it becomes the command.
type report struct {
	pid      string // "" when the command was never reached
	unusable bool   // the directory cannot be entered
	unsized  bool   // the terminal has no size yet
}

// reportWriter takes the wrapper's first line off a stream and passes the rest
// on. Bytes that are no report, such as an engine's message, are passed on
// whole.
type reportWriter struct {
	mark string
	next io.Writer
	seen chan struct{} // closed once the first line was judged

	mu   sync.Mutex
	done bool
	line []byte
	got  report
}

func newReportWriter(mark string, next io.Writer) *reportWriter {
	return &reportWriter{mark: mark, next: next, seen: make(chan struct{})}
}

// Write is called by one goroutine.
func (w *reportWriter) Write(p []byte) (int, error) {
	if w.done {
		return w.next.Write(p)
	}
	i := bytes.IndexByte(p, '\n')
	if i < 0 && len(w.line)+len(p) < len(w.mark)+64 {
		w.line = append(w.line, p...)
		return len(p), nil
	}
	line := append(w.line, p[:i+1]...)
	w.judge(string(bytes.TrimRight(line, "\r\n")))
	rest := p[i+1:]
	if w.report() == (report{}) {
		rest = append(line, rest...)
	}
	if len(rest) > 0 {
		if _, err := w.next.Write(rest); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

func (w *reportWriter) judge(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if rest, ok := strings.CutPrefix(line, w.mark+" "); ok {
		switch pid, size, _ := strings.Cut(rest, " "); {
		case pid == "W":
			w.got.unusable = true
		default:
			w.got.pid, w.got.unsized = pid, size == "S"
		}
	}
	w.done, w.line = true, nil
	close(w.seen)
}

// finish judges what came when the stream ended without a whole line.
func (w *reportWriter) finish() {
	if w.done {
		return
	}
	rest := w.line
	w.judge("")
	if len(rest) > 0 {
		if _, err := w.next.Write(rest); err != nil {
			return // the reader is gone, and so is its interest in the text
		}
	}
}

func (w *reportWriter) report() report {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.got
}
