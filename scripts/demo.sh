#!/usr/bin/env bash
# The whole story on one machine with Go and git: a provider from nothing to a
# refused claim. Everything happens in a throw-away directory.
set -euo pipefail
cd "$(dirname "$0")/.."
repo=$PWD
work=$(mktemp -d)
trap 'chmod -R u+rwx "$work" 2>/dev/null || true; rm -rf "$work"' EXIT

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
show sbxgen new provider demo --name Demo --summary "A throw-away provider on local." \
	--homepage https://example.com/demo --kind native --base local \
	--module example.com/demo --dir "$work/demo" --replace "$repo"
cd "$work/demo"
git init -q .

step "what we know goes into the manifest: a look-up by id proves that a sandbox is gone"
grep -n 'goneProof' provider.yaml
sed -i.bak 's/goneProof: .*/goneProof: {value: inspect, class: inferred}/' provider.yaml && rm provider.yaml.bak
grep -n 'goneProof' provider.yaml
show sbxgen generate

step "it compiles, vets and its tests pass; what is not proven is counted as unknown"
show go vet ./...
show go test ./...

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
cat >catalog/demo.yaml <<'Y'
provider: demo
status: verified
verifiedAt: 2026-01-01T00:00:00Z
verifiedBy: demo
Y
refused 1 sbxgen validate

step "done in $SECONDS s"
