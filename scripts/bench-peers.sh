#!/usr/bin/env bash
# Measures the speed goals as ratios to other programs, in one run.
#
# Builds sbx and sbxgen, installs the peers, and runs internal/benchpeers. Needs Go; npm
# for the validators written in JavaScript and C++, an engine or dockerd for the
# Docker rows. A peer that cannot be installed is named in its row with the
# reason. Exits 0 when everything that is here could be measured, whether goals
# are met or not, and not 0 when a measurement failed.
#
#   SBX_PEERS  folder the peers are installed into, once
#              (default: ${XDG_CACHE_HOME:-~/.cache}/sbx-bench-peers)
#
# Arguments go to benchpeers: -run REGEXP measures some of the rows, -n N sets
# the counted runs.
set -euo pipefail
cd "$(dirname "$0")/.."

peers=${SBX_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/sbx-bench-peers}
mkdir -p "$peers/bin" "$peers/absent" "$peers/log"
peers=$(cd "$peers" && pwd)
: >"$peers/versions"

# absent NAME REASON: benchpeers reads the reason.
absent() {
	printf '%s\n' "$2" >"$peers/absent/$1"
	echo "$1 is absent: $2" >&2
}

version() { printf '%s\n' "$1" >>"$peers/versions"; }

# go_peer NAME PACKAGE MODULE@VERSION: builds the package in a module of its
# own, because some commands cannot be installed by their path.
go_peer() {
	local name=$1 package=$2 at=$3 dir=$peers/go/$1
	rm -f "$peers/absent/$name"
	if [ ! -x "$peers/bin/$name" ] || [ "$(cat "$dir/at" 2>/dev/null)" != "$at" ]; then
		echo "building $name from $at" >&2
		rm -rf "$dir" "$peers/bin/$name"
		mkdir -p "$dir"
		if ! (cd "$dir" && go mod init peer && go get -tool "$package@${at#*@}" &&
			go build -o "$peers/bin/$name" "$package") >"$peers/log/$name" 2>&1; then
			absent "$name" "go could not build $at: $(tail -n 1 "$peers/log/$name")"
			return
		fi
		printf '%s' "$at" >"$dir/at"
	fi
	version "$at"
}

# npm_peers installs ajv-cli and sourcemeta's validator, and puts the programs
# themselves into bin/, so that no launcher is measured.
npm_peers() {
	local want="ajv-cli@5.0.0 ajv-formats@3.0.1 ajv@8.17.1 @sourcemeta/jsonschema@16.11.0" dir=$peers/npm name native
	rm -f "$peers/absent/ajv" "$peers/absent/sourcemeta"
	if ! command -v npm >/dev/null; then
		for name in ajv sourcemeta; do absent "$name" "npm is not installed"; done
		return
	fi
	if [ "$(cat "$dir/at" 2>/dev/null)" != "$want" ]; then
		echo "installing $want" >&2
		rm -rf "$dir" "$peers/bin/ajv" "$peers/bin/sourcemeta"
		mkdir -p "$dir"
		# shellcheck disable=SC2086 # a list of packages
		if ! (cd "$dir" && npm install --no-audit --no-fund --prefix . $want) >"$peers/log/npm" 2>&1; then
			for name in ajv sourcemeta; do absent "$name" "npm could not install it: $(grep -m 1 'npm error' "$peers/log/npm" || tail -n 1 "$peers/log/npm")"; done
			return
		fi
		printf '%s' "$want" >"$dir/at"
	fi
	ln -sf ../npm/node_modules/.bin/ajv "$peers/bin/ajv"
	version "ajv-cli 5.0.0 with ajv 8.17.1 and ajv-formats 3.0.1 on node $(node --version)"
	case "$(uname -s)-$(uname -m)" in
	Linux-x86_64) native=linux-x86_64 ;;
	Linux-aarch64) native=linux-arm64 ;;
	Darwin-x86_64) native=darwin-x86_64 ;;
	Darwin-arm64) native=darwin-arm64 ;;
	*) native=none ;;
	esac
	native=$dir/node_modules/@sourcemeta/jsonschema/build/github-releases/jsonschema-$native
	if [ -f "$native" ]; then
		chmod +x "$native"
		ln -sf "$native" "$peers/bin/sourcemeta"
		version "sourcemeta jsonschema 16.11.0, the native program"
	else
		absent sourcemeta "the package has no program for $(uname -sm)"
	fi
}

go_peer jv github.com/santhosh-tekuri/jsonschema/cmd/jv github.com/santhosh-tekuri/jsonschema/cmd/jv@v0.7.0
go_peer kubebuilder sigs.k8s.io/kubebuilder/v4 sigs.k8s.io/kubebuilder/v4@v4.7.1
npm_peers
if scripts/start-dockerd.sh >"$peers/log/dockerd" 2>&1; then
	if command -v docker >/dev/null; then
		version "docker $(docker version --format 'client {{.Client.Version}}, engine {{.Server.Version}}')"
	fi
else
	tail -n 1 "$peers/log/dockerd" >&2
fi

echo "building sbx, sbxgen and benchpeers" >&2
go build -o "$peers/bin/" ./cmd/sbx ./cmd/sbxgen ./internal/benchpeers ./internal/benchpeers/formatfloor
exec "$peers/bin/benchpeers" -peers "$peers" -checkout . "$@"
