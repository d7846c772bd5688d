package docker

import "github.com/agentworkforce/sbx/port"

// Exit codes of the file scripts. The tools they call use 1 and 2.
const (
	exitMissing    = 70
	exitDirectory  = 71 // a file was wanted
	exitNoDir      = 72 // a directory was wanted
	exitDenied     = 73
	exitIrregular  = 74 // neither file nor directory nor symlink
	exitNotEmpty   = 75
	exitWrongSize  = 76
	exitTargetKind = 77 // what is at the target cannot be replaced
)

// fileFailure is the port code and words of a file script's exit code.
func fileFailure(exit int) (port.Code, string) {
	switch exit {
	case exitMissing:
		return port.CodeNotFound, "there is no such path"
	case exitDirectory:
		return port.CodeInvalidArgument, "the path is a directory"
	case exitNoDir:
		return port.CodeInvalidArgument, "the path, or a part of it, is not a directory"
	case exitDenied:
		return port.CodePermissionDenied, "the sandbox's user may not do this"
	case exitIrregular:
		return port.CodeInvalidArgument, "the path is not a regular file"
	case exitNotEmpty:
		return port.CodeFailedPrecondition, "the directory is not empty"
	case exitTargetKind:
		return port.CodeFailedPrecondition, "what is at the target cannot be replaced"
	}
	return port.CodeProvider, "a tool in the sandbox failed"
}

// The scripts get absolute paths as arguments, so no path is ever an option,
// and none is part of the script's text.
const (
	// readScript prints size and permission bits on a line of their own, then
	// the bytes.
	readScript = `[ -e "$1" ] || exit 70
[ ! -d "$1" ] || exit 71
[ -f "$1" ] || exit 74
[ -r "$1" ] || exit 73
stat -L -c '%s %a' "$1" || exit 80
exec cat "$1"`

	// resolveScript sets target to the file behind a symlink, dir to its
	// directory and part to the temporary file ($2 makes it unique).
	// It follows links itself: some readlink -f resolve a dangling relative
	// link against the working directory.
	resolveScript = `target=$1 hops=0
while [ -L "$target" ]; do
	hops=$((hops + 1))
	[ "$hops" -le 40 ] || exit 74
	link=$(readlink "$target" && echo x) || exit 80
	link=${link%?x}
	case $link in /*) target=$link ;; *) target=${target%/*}/$link ;; esac
done
dir=${target%/*}
part=$dir/.sbx-$2.part
`
	// writeScript takes the bytes ($3 of them) from standard input and puts
	// them in place with one rename, with permission bits $4.
	writeScript = resolveScript + `[ ! -d "$target" ] || exit 71
[ ! -e "$target" ] || [ -f "$target" ] || exit 74
if [ ! -d "$dir/" ]; then
	up=$dir
	while [ -n "$up" ] && [ ! -e "$up" ]; do up=${up%/*}; done
	[ -d "$up/" ] || exit 72
	[ -w "$up/" ] || exit 73
	mkdir -p "$dir" || exit 80
fi
[ -w "$dir/" ] || exit 73
fail() { rm -f "$part"; exit "$1"; }
(umask 077 && cat >"$part") || fail 80
[ "$(($(wc -c <"$part")))" = "$3" ] || fail 76
chmod "$4" "$part" || fail 80
mv -f "$part" "$target" || fail 80`

	// discardScript removes what a killed writeScript left.
	discardScript = resolveScript + `rm -f "$part"`

	statScript = `[ -e "$1" ] || [ -L "$1" ] || exit 70
stat -c '%f %s %Y' "$1" || exit 80
[ ! -L "$1" ] || readlink "$1"`

	// listScript prints records that begin with the mark $2: numbers and name
	// of every entry, then name and target of every symlink.
	listScript = `[ -e "$1" ] || exit 70
[ -d "$1" ] || exit 72
[ -r "$1" ] && cd "$1" 2>/dev/null || exit 73
find . -mindepth 1 -maxdepth 1 -exec stat -c "$2 E %f %s %Y %n" {} + || exit 80
find . -mindepth 1 -maxdepth 1 -type l -exec sh -c 'mark=$1; shift
for f do printf "%s N %s\n%s T " "$mark" "$f" "$mark"; readlink "$f"; done' sh "$2" {} + || exit 80`

	mkdirScript = `[ ! -d "$1" ] || exit 0
[ ! -e "$1" ] && [ ! -L "$1" ] || exit 72
up=$1
while [ -n "$up" ] && [ ! -e "$up" ]; do up=${up%/*}; done
[ -d "$up/" ] || exit 72
[ -w "$up/" ] || exit 73
mkdir -p "${1%/*}/" && mkdir "$1" && chmod "$2" "$1" || exit 80`

	// removeScript: $2 is "r" for what is below, too.
	removeScript = `[ -e "$1" ] || [ -L "$1" ] || exit 70
[ -w "${1%/*}/" ] || exit 73
if [ -L "$1" ] || [ ! -d "$1" ]; then
	rm -f "$1" || exit 80
elif [ "$2" = r ]; then
	rm -rf "$1" || exit 80
else
	[ -z "$(find "$1" -mindepth 1 -maxdepth 1 | head -n 1)" ] || exit 75
	rmdir "$1" || exit 80
fi
[ ! -e "$1" ] && [ ! -L "$1" ] || exit 80`

	// renameScript never lets mv move into a directory.
	renameScript = `[ -e "$1" ] || [ -L "$1" ] || exit 70
[ -d "${2%/*}/" ] || exit 70
[ -w "${1%/*}/" ] && [ -w "${2%/*}/" ] || exit 73
if [ -d "$2" ]; then
	[ "$1" != "$2" ] || exit 0
	[ -L "$2" ] || exit 77
	rm -f "$2" || exit 80
elif [ -d "$1" ] && [ ! -L "$1" ] && [ -e "$2" ]; then
	exit 77
fi
mv -f "$1" "$2" || exit 80`
)
