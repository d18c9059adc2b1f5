#!/usr/bin/env bash
# Makes sure that a Docker engine answers: starts one, installing it first where it
# is missing, on Debian and as root. Does nothing where one answers already. Also
# used by CI, where nothing else starts an engine.
set -euo pipefail

readonly log=/var/log/airlock-dockerd.log
readonly seconds=60

answers() { docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

fail() {
	echo "docker-engine: $*" >&2
	exit 1
}

install_packages() {
	command -v apt-get >/dev/null || fail "no Docker engine and no apt-get; install Docker by hand"
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq
	# mmdebstrap makes the base image where no registry can be reached.
	apt-get install -y -qq --no-install-recommends docker.io cgroupfs-mount iptables ca-certificates mmdebstrap >/dev/null
}

# Debian's own service starts the engine where there is an init; containers and
# small machines have none.
start() {
	if [ -d /run/systemd/system ]; then
		systemctl start docker
		return
	fi
	mount_cgroups
	rm -f /var/run/docker.pid
	setsid dockerd >"$log" 2>&1 </dev/null &
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
	if command -v docker >/dev/null && answers; then
		return
	fi
	[ "$(id -u)" = 0 ] || fail "no Docker engine answers, and only root can start one; start Docker, or add yourself to the group docker"
	if ! command -v dockerd >/dev/null; then
		install_packages
	fi
	start
	wait_until_ready
}

# One at a time: two engines on one folder break each other.
exec 9>"${TMPDIR:-/tmp}/airlock-docker-engine.lock"
flock 9
main "$@" 9>&-
