#!/usr/bin/env bash
# Makes sure that a Docker engine answers: starts one, installing it first where it
# is missing, on Debian and as root. Does nothing where one answers already. Also
# used by CI, where nothing else starts an engine.
#
#   docker-engine.sh        start one if none answers
#   docker-engine.sh stop   end the one that this script started, and no other
set -euo pipefail

readonly log=/var/log/airlock-dockerd.log
readonly started=/run/airlock-dockerd # holds the process id of what we started, or "systemd"
readonly seconds=60

answers() { docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

fail() {
	echo "docker-engine: $*" >&2
	exit 1
}

# mmdebstrap makes the base image where no registry can be reached.
install_missing() {
	local packages=()
	command -v dockerd >/dev/null || packages+=(docker.io cgroupfs-mount iptables ca-certificates)
	command -v mmdebstrap >/dev/null || packages+=(mmdebstrap)
	[ ${#packages[@]} -gt 0 ] || return 0
	command -v apt-get >/dev/null || fail "no apt-get to install ${packages[*]} with; install Docker by hand"
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq
	if ! command -v docker >/dev/null && apt-cache show docker-cli >/dev/null 2>&1; then
		packages+=(docker-cli) # newer Debians split it off
	fi
	apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
}

# Debian's own service starts the engine where there is an init; containers and
# small machines have none.
start() {
	if [ -d /run/systemd/system ]; then
		systemctl start docker
		remember
		return
	fi
	mount_cgroups
	rm -f /var/run/docker.pid
	setsid dockerd >"$log" 2>&1 </dev/null &
	echo $! >"$started"
}

remember() {
	if [ -d /run/systemd/system ]; then
		echo systemd >"$started"
	else
		cat /var/run/docker.pid >"$started"
	fi
}

stop() {
	local what
	what=$(cat "$started" 2>/dev/null) || return 0
	rm -f "$started"
	if [ "$what" = systemd ]; then
		systemctl stop docker.socket docker
		return
	fi
	[ "$(cat "/proc/$what/comm" 2>/dev/null)" = dockerd ] || return 0
	kill "$what"
	for ((i = 0; i < seconds * 5; i++)); do
		[ -d "/proc/$what" ] || return 0
		sleep 0.2
	done
	fail "the engine, process $what, did not end within $seconds seconds; its log is $log"
}

# A machine without an init may have no control groups, which limits need.
mount_cgroups() {
	if [ -d /sys/fs/cgroup ] && ! mountpoint -q /sys/fs/cgroup && command -v cgroupfs-mount >/dev/null; then
		cgroupfs-mount
	fi
}

wait_until_ready() {
	for ((i = 0; i < seconds * 5; i++)); do
		if answers; then
			return
		fi
		sleep 0.2
	done
	[ -f "$log" ] && tail -n 20 "$log" >&2
	fail "the engine did not answer within $seconds seconds; its log is $log"
}

main() {
	case ${1:-start} in
	start) ;;
	stop) stop; return ;;
	*) fail "unknown word \"$1\"; use start or stop" ;;
	esac
	local engine=
	if command -v docker >/dev/null && answers; then
		engine=there
	fi
	if [ "$(id -u)" = 0 ]; then
		# On a machine of somebody else's, an engine that answers is enough.
		[ -n "$engine" ] && [ -z "${CI:-}" ] || install_missing
	elif [ -z "$engine" ]; then
		fail "no Docker engine answers, and only root can start one; start Docker, or add yourself to the group docker"
	fi
	if answers; then
		[ -n "$engine" ] || remember # its package started it
		return
	fi
	start
	wait_until_ready
}

# One at a time: two engines on one folder break each other.
exec 9>"${TMPDIR:-/tmp}/airlock-docker-engine.lock"
flock 9
main "$@" 9>&-
