#!/usr/bin/env bash
# The whole story on one machine with Go and git: a provider from nothing to a
# refused claim, and to one that is proven. Everything happens in a throw-away
# directory.
set -euo pipefail
cd "$(dirname "$0")/.."
repo=$PWD
work=$(mktemp -d)
trap 'kill "${beside:-}" 2>/dev/null || true; chmod -R u+rwx "$work" 2>/dev/null || true; rm -rf "$work"' EXIT

export SBX_STATE_DIR=$work/state XDG_CACHE_HOME=${XDG_CACHE_HOME:-$HOME/.cache} GOFLAGS=-mod=mod SBX_CONFORMANCE_PARALLEL=8
if [ "$(uname -s)" != Linux ] || ! command -v bwrap >/dev/null; then
	export SBX_LOCAL_ISOLATION=none # said out loud below: nothing is isolated then
fi

bold=""; dim=""; off=""
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$'\e[1m'; dim=$'\e[2m'; off=$'\e[0m'; fi
step() { printf '\n%s== %s%s %s(%s s)%s\n' "$bold" "$*" "$off" "$dim" "$SECONDS" "$off"; }
show() { printf '%s$ %s%s\n' "$dim" "$*" "$off"; "$@"; }
# refused CODE COMMAND...: the command must fail with that exit code.
refused() {
	local want=$1 got=0
	shift
	printf '%s$ %s%s\n' "$dim" "$*" "$off"
	"$@" || got=$?
	if [ "$got" != "$want" ]; then
		printf 'expected exit %s, got %s\n' "$want" "$got" >&2
		exit 1
	fi
	printf '%s(exit %s)%s\n' "$dim" "$got" "$off"
}
boxes() { find "$SBX_STATE_DIR/sbx/local" -mindepth 1 -maxdepth 1 -type d ! -name '.*' 2>/dev/null | wc -l; }

step "building sbxgen and sbx (the first time compiles their dependencies)"
GOFLAGS= go build -o "$work/bin/" ./cmd/sbxgen ./cmd/sbx
export PATH=$work/bin:$PATH

step "a new provider, backed by local, in a module of its own"
# What is known of the vendor is its manifest: here local's, under another name.
sed -e 's/^id: local/id: demo/' -e 's/^name: Local/name: Demo/' -e 's/^  kind: native/  kind: native\n  base: local/' \
	-e '/^maintainers:/d' "$repo/providers/local/provider.yaml" >"$work/known.yaml"
show sbxgen new provider demo --from "$work/known.yaml" --module example.com/demo --dir "$work/demo" --replace "$repo"
cd "$work/demo"
git init -q .

step "it compiles and vets, and its contract test passes"
show go vet ./...
show go test -run TestContract ./...

step "a command in a sandbox, through the new provider's own client"
[ -z "${SBX_LOCAL_ISOLATION:-}" ] || echo "bubblewrap is not here: isolation is none, and says so"
mkdir -p app
cp "$repo/scripts/demo/main.go.txt" app/main.go
go build -o "$work/bin/app" ./app
show app run

step "kill -9 in the middle of a run, then reap"
app hold >"$work/hold.log" &
pid=$!
for _ in $(seq 200); do
	grep -q holding "$work/hold.log" && break
	sleep 0.05
done
kill -9 "$pid"
wait "$pid" 2>/dev/null || true
before=$(boxes)
echo "sandboxes after kill -9: $before"
show app reap
after=$(boxes)
echo "sandboxes after reap:    $after"
[ "$before" = 3 ] && [ "$after" = 0 ]
show sbx ledger verify

step "an edit of a generated file does not go unnoticed"
show sbxgen generate --check
printf '// my edit\n' >>zz_generated_client.go
refused 1 sbxgen generate --check
show sbxgen generate

step "claiming what nobody proved"
mkdir -p catalog
entry() {
	printf 'provider: demo\nstatus: verified\nverifiedBy: demo\n'
	[ -z "${1:-}" ] || printf 'evidence:\n  - path: %s/statement.json\n    sha256: %s\nverifiedAt: %s\nexpiresAt: %s\n' "$1" \
		"$(sha256sum "$1/statement.json" | cut -d ' ' -f 1)" "$(field "$1" to)" "$(field "$1" 'fresh to')"
}
field() { sbxgen evidence show "$1" | sed -n "s/^$2  *//p"; }
entry >catalog/demo.yaml
refused 1 sbxgen validate catalog

if [ -n "${SBX_LOCAL_ISOLATION:-}" ]; then
	echo "nothing is isolated here, so a secret of this process is visible inside and no run can pass: the rest is left out"
	step "done in $SECONDS s"
	exit 0
fi

# The same provider with an address of a vendor, and a variable that puts another one
# in its place: what that run is worth comes at the end.
cp -r "$work/demo" "$work/simulated"
(
	cd "$work/simulated"
	printf 'endpoints:\n  - {name: api, url: "https://api.demo.example", env: DEMO_API_URL}\n' >>provider.yaml
	sbxgen generate demo
	DEMO_API_URL=http://127.0.0.1:9 exec nice -n 19 sbxgen evidence collect demo --parallel 8
) >"$work/simulated.log" 2>&1 &
beside=$!

step "proving it: the suite and the benchmark, live, and what they leave as evidence"
if [ -t 2 ]; then
	show sbxgen evidence collect demo --parallel 8
else # no terminal: one line for each check; the end is enough here
	show sbxgen evidence collect demo --parallel 8 2>&1 | tail -n 24
fi
run=$(echo evidence/demo/*)
show sbxgen evidence key "$work/demo.pem" --owner "Demo" --list
show sbxgen evidence sign "$run" --key "$work/demo.pem"
entry "$run" >catalog/demo.yaml
show sbxgen generate # its checklist says what the entry links
show sbxgen validate
show sbxgen status demo

step "one byte of the evidence is flipped"
cp "$run/conformance.json" "$work/kept.json"
sed -i.bak 's/"passed": 1/"passed": 2/' "$run/conformance.json" && rm "$run/conformance.json.bak"
refused 1 sbxgen validate catalog
cp "$work/kept.json" "$run/conformance.json"

step "the adapter is edited after the run"
cp adapter.go "$work/kept.go"
printf '\n// faster is better.\nfunc faster() {}\n' >>adapter.go
refused 1 sbxgen validate catalog
cp "$work/kept.go" adapter.go

step "the statement is made again by hand, without running anything"
cp -r "$run" "$work/kept"
sed -i.bak 's/"tool": "[^"]*"/"tool": "v9.9.9"/' "$run/statement.json" && rm "$run/statement.json.bak"
entry "$run" >catalog/demo.yaml
refused 1 sbxgen validate catalog

step "... and signed with a key that nobody listed"
sbxgen evidence key "$work/other.pem" --owner "Somebody" >/dev/null
sbxgen evidence sign "$run" --replace --key "$work/other.pem"
refused 1 sbxgen validate catalog
rm -r "$run" && mv "$work/kept" "$run"
entry "$run" >catalog/demo.yaml
show sbxgen validate

step "the endpoint is overridden: whatever answers there, the run is simulated"
cd "$work/simulated"
wait "$beside" || true # a run that is not live has not passed
echo "(collected beside the live run, in a copy whose manifest names an endpoint)"
show grep -A 1 '^endpoints:' provider.yaml
printf '%s$ DEMO_API_URL=http://127.0.0.1:9 sbxgen evidence collect demo%s\n' "$dim" "$off"
grep -A 2 simulated "$work/simulated.log"
run=$(echo evidence/demo/*)
cp "$work/demo/evidence/keys.yaml" evidence/keys.yaml
sbxgen evidence sign "$run" --key "$work/demo.pem"
entry "$run" >catalog/demo.yaml
refused 1 sbxgen validate catalog | tee "$work/refused.txt"
grep -q 'SBX209' "$work/refused.txt"

step "done in $SECONDS s"
