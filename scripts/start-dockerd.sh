#!/bin/sh
# Starts a Docker Engine for tests on a machine that has none running, waits
# until it answers, and does nothing when one already does. Where runsc is
# installed it is registered as the runtime "runsc".
#
#   STATE  directory for configuration and log (default: ${TMPDIR:-/tmp}/sbx-dockerd)
#
# Needs root and dockerd. Exits 0 when the engine answers, 1 otherwise.
set -eu

sock=/var/run/docker.sock
state=${STATE:-${TMPDIR:-/tmp}/sbx-dockerd}
log=$state/dockerd.log

answers() {
	[ -S "$sock" ] && curl -fsS --max-time 5 --unix-socket "$sock" http://engine/_ping >/dev/null 2>&1
}

if answers; then
	echo "engine already answers on $sock"
	exit 0
fi
command -v dockerd >/dev/null || { echo "dockerd is not installed" >&2; exit 1; }
mkdir -p "$state"

# The platform and network arguments are what runs without KVM and as root of
# the host's network namespace.
if runsc=$(command -v runsc); then
	printf '{"runtimes":{"runsc":{"path":"%s","runtimeArgs":["--platform=ptrace","--network=none"]}}}\n' "$runsc"
else
	printf '{}\n'
fi >"$state/daemon.json"

# A daemon that was killed leaves its pid file behind.
pidfile=/var/run/docker.pid
if [ -f "$pidfile" ] && ! kill -0 "$(cat "$pidfile")" 2>/dev/null; then
	rm -f "$pidfile"
fi

setsid dockerd --config-file "$state/daemon.json" >"$log" 2>&1 </dev/null &
pid=$!

tries=0
until answers; do
	tries=$((tries + 1))
	if [ "$tries" -gt 240 ] || ! kill -0 "$pid" 2>/dev/null; then
		echo "dockerd did not come up; last lines of $log:" >&2
		tail -n 20 "$log" >&2
		exit 1
	fi
	sleep 0.25
done
echo "engine answers on $sock (pid $pid, log $log)"
