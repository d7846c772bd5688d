#!/bin/sh
# One tour for every provider:  examples/tour.sh PROVIDER [flags of sbx new]
#
# It uses whatever the provider has. What it does not have refuses with exit code
# 4 and changes nothing, and the tour says so and goes on. Everything it makes is
# gone at the end. SBX names the program; without it sbx is looked up.
set -eu

provider=${1:?usage: tour.sh PROVIDER [flags of sbx new]}
shift
work=$(mktemp -d)
made=""     # sandboxes
snapshots="" # and what was captured
sbx() { command "${SBX:-sbx}" "$@"; }

tidy() {
	code=$?
	trap - EXIT
	for ref in $made; do sbx rm -q "$ref" >/dev/null || code=1; done
	for ref in $snapshots; do sbx snapshots rm -q "$ref" >/dev/null || code=1; done
	rm -rf "$work"
	exit "$code"
}
trap tidy EXIT
trap 'exit 1' HUP INT TERM

step() { printf '\n== %s\n' "$*"; }

# has VERB...: runs sbx VERB..., its output in $out; false when it is unsupported.
has() {
	code=0
	out=$(sbx "$@" 2>"$work/refusal") || code=$?
	[ "$code" != 0 ] || return 0
	cat "$work/refusal"
	[ "$code" = 4 ] || exit "$code"
	return 1
}

same() { [ "$1" = "$2" ] || { printf 'expected %s, got %s\n' "$2" "$1" >&2; exit 1; }; }

step "a sandbox, ready when its reference is printed"
id=$(sbx new --provider "$provider" "$@")
made=$id
echo "$id"

step "a command: streams apart, and its own exit code"
code=0
sbx exec "$id" -- sh -c 'echo out; echo err >&2; exit 7' >"$work/out" 2>"$work/err" || code=$?
same "$code" 7
same "$(cat "$work/out")" out
same "$(cat "$work/err")" err
same "$(printf hello | sbx exec "$id" -- cat)" hello
echo "exit code 7, out and err apart, standard input passed"

step "files and a directory, there and back"
mkdir -p "$work/tree/sub"
echo content >"$work/tree/sub/file"
chmod 750 "$work/tree/sub/file"
ln -s sub/file "$work/tree/link"
sbx scp "$work/tree" "$id:tour-tree"
same "$(sbx exec -n "$id" -- cat tour-tree/link)" content
sbx scp "$id:tour-tree" "$work/back"
same "$(cat "$work/back/link")" content
same "$(readlink "$work/back/link")" sub/file
same "$(ls -l "$work/back/sub/file" | cut -c1-10)" -rwxr-x---
sbx scp "$id:tour-tree/sub/file" "$work/alone"
same "$(cat "$work/alone")" content
echo "content, permission bits and links are the same"

step "stop and start: the disk stays"
if has stop "$id"; then
	same "$out" stopped
	has start "$id"
	same "$out" running
	same "$(sbx exec -n "$id" -- cat tour-tree/link)" content
	echo "stopped, started, and the file is there"
fi

step "suspend and resume: the memory stays"
if has suspend "$id"; then
	same "$out" suspended
	has resume "$id"
	same "$out" running
	echo "suspended and resumed"
fi

step "a snapshot, and a sandbox made from it"
if has snapshot "$id"; then
	snapshots=$out
	copy=$(sbx new --from-snapshot "$out")
	made="$made $copy"
	same "$(sbx exec -n "$copy" -- cat tour-tree/link)" content
	echo "$copy starts as $id was"
fi

step "two forks"
if has fork -n 2 "$id"; then
	made="$made $(echo "$out" | tr '\n' ' ')"
	for fork in $out; do same "$(sbx exec -n "$fork" -- cat tour-tree/link)" content; done
	echo "$out"
fi

step "an agent inside, a longer life: nobody pretends"
if has prompt "$id" "say hello"; then echo "$out"; fi
if has extend "$id" --ttl 1h; then echo "$out"; fi

step "a command in a sandbox of its own"
same "$(sbx run -n --provider "$provider" "$@" -- echo once)" once
echo "it ran, and its sandbox is gone"

step "mine"
sbx list --provider "$provider"

step "gone, and proven so"
for ref in $made; do sbx rm "$ref"; done
made=""
for ref in $snapshots; do sbx snapshots rm "$ref"; done
snapshots=""
code=0
sbx info "$id" 2>/dev/null || code=$?
same "$code" 5
sbx ledger verify >/dev/null
echo "nothing is left, and every ledger is in order"
