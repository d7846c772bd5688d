package wire

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
)

// WorkdirExit is the exit code with which a wrapped command reports that it
// was not started because its directory cannot be entered. Alone it proves
// nothing, a command may exit with it; ParseWorkdirFailure also wants the marker.
const WorkdirExit = 191

// WrapSpec is a command for a vendor that takes one shell line and lacks a
// directory or environment of its own. Where the vendor has those fields, use
// them: what is wrapped can be seen in the sandbox's process list.
type WrapSpec struct {
	Argv   []string // Argv or Script, not both
	Script string   // for /bin/sh
	Dir    string   // "" stays where the vendor starts commands; ~ is not expanded
	Env    map[string]string
	Marker string // from NewMarker, fresh for every command; needed with Dir
}

// NewMarker returns a word that no command can print by chance.
func NewMarker() (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	return "sbx_workdir_unusable_" + hex.EncodeToString(b[:]), nil
}

// WrapCommand composes the text for `sh -c`. Entering the directory is a
// completed step on its own lines before anything of the command, so no ';' or
// '&' in a script can run without it; the script is one quoted word for a
// shell of its own, so it can neither end nor change the wrapping. The exit
// code is the command's own: 126 and 127 when it cannot be executed.
//
// Every mistake in spec is CodeInvalidArgument; no error shows a value.
func WrapCommand(spec WrapSpec) (string, error) {
	command, err := commandLine(spec)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if spec.Dir != "" {
		if !validMarker(spec.Marker) {
			return "", badCommand("a directory needs a marker of letters, digits and '_'")
		}
		if strings.ContainsRune(spec.Dir, 0) {
			return "", badCommand("the directory has a NUL byte")
		}
		b.WriteString(enter(spec.Dir) + " || {\nprintf '\\n%s\\n' " + spec.Marker + " >&2\nexit 191\n}\n")
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Env)) {
		value := spec.Env[name]
		if err := checkShellEnv(name, value); err != nil {
			return "", err
		}
		b.WriteString(name + "=" + Quote(value) + "\nexport " + name + "\n")
	}
	b.WriteString(command + "\n")
	return b.String(), nil
}

func commandLine(spec WrapSpec) (string, error) {
	switch {
	case (len(spec.Argv) > 0) == (spec.Script != ""):
		return "", badCommand("a command is either argv or a script")
	case strings.ContainsRune(spec.Script, 0):
		return "", badCommand("the script has a NUL byte")
	case spec.Script != "":
		return "exec /bin/sh -c " + Quote(spec.Script), nil
	case spec.Argv[0] == "" || spec.Argv[0][0] == '-':
		return "", badCommand("the program's name is empty or begins with '-'")
	}
	for _, a := range spec.Argv {
		if strings.ContainsRune(a, 0) {
			return "", badCommand("an argument has a NUL byte")
		}
	}
	return "exec " + QuoteArgs(spec.Argv), nil
}

// enter composes a cd that means exactly this directory: a path that begins
// with "/" or "./" is no option, not "-" for the previous one, and not looked
// up in CDPATH.
func enter(dir string) string {
	if dir[0] != '/' {
		dir = "./" + dir
	}
	return "cd -- " + Quote(dir)
}

// WorkdirProbe composes the text for `sh -c` that only enters dir: exit 0 when
// it can, WorkdirExit when not. Run it after ParseWorkdirFailure said yes, so
// that the report is confirmed outside of the command.
func WorkdirProbe(dir string) (string, error) {
	if dir == "" || strings.ContainsRune(dir, 0) {
		return "", badCommand("the directory is empty or has a NUL byte")
	}
	return enter(dir) + " || exit 191\n", nil
}

// ParseWorkdirFailure reports whether a command wrapped with this marker was
// not started because its directory cannot be entered. stderr may be merged
// with stdout. The answer is CodeWorkdirUnusable's, never the command's exit code.
func ParseWorkdirFailure(exit int, stderr []byte, marker string) bool {
	if exit != WorkdirExit || !validMarker(marker) {
		return false
	}
	text := bytes.TrimRight(stderr, "\r\n")
	last := text[bytes.LastIndexByte(text, '\n')+1:]
	return string(last) == marker
}

func validMarker(m string) bool {
	for _, c := range []byte(m) {
		if !alnum(c) && c != '_' {
			return false
		}
	}
	return m != ""
}
