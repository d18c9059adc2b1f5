#!/usr/bin/env bash
# Builds airlock:latest from Dockerfile and bin/airlock (make build), then tries it: a
# container is started as in docs/OPERATIONS.md, asked with and without a key, and
# stopped. Leaves nothing but the image.
#
# BASE_IMAGE is the base; without it airlock-base:bookworm where that is there
# (scripts/sandbox-base.sh makes it), else the Dockerfile's own.
set -euo pipefail

readonly image=${IMAGE:-airlock:latest}
readonly seconds=60
name=airlock-image-$$

fail() { printf 'airlock-image: %s\n' "$*" >&2; exit 1; }

build() {
	local arguments=() base=${BASE_IMAGE:-}
	if [[ -z $base ]] && docker image inspect airlock-base:bookworm >/dev/null 2>&1; then
		base=airlock-base:bookworm
	fi
	[[ -n $base ]] && arguments=(--build-arg "BASE_IMAGE=$base")
	local talk
	talk=$(mktemp)
	tar --create --owner=0 --group=0 --mode=a+rX,go-w Dockerfile bin/airlock catalog.json |
		DOCKER_BUILDKIT=0 docker build --quiet --network host --tag "$image" "${arguments[@]}" - >"$talk" 2>&1 ||
		{ cat "$talk" >&2; rm -f "$talk"; fail "the build failed"; }
	rm -f "$talk"
}

# ask METHOD PATH [curl arguments]: prints the status.
ask() {
	local method=$1 path=$2
	shift 2
	curl --silent --output /dev/null --write-out '%{http_code}' --request "$method" "http://127.0.0.1:$port$path" --header 'Host: localhost:3000' "$@"
}

wait_until_ready() {
	for ((i = 0; i < seconds * 5; i++)); do
		[[ $(ask GET /ready || true) == 200 ]] && return
		sleep 0.2
	done
	docker logs "$name" >&2
	fail "the container was not ready within $seconds seconds"
}

try() {
	trap 'docker rm --force --volumes "$name" >/dev/null 2>&1 || true' EXIT
	docker run --detach --name "$name" --publish 127.0.0.1::3000 --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges "$image" >/dev/null
	port=$(docker port "$name" 3000/tcp | sed 's/.*://')
	wait_until_ready
	local key script='{"code":"return (await callMCPTool(\"database__query\", {query: \"SELECT 1 AS one\"})).length"}'
	key=$(docker exec "$name" airlock keys create image-test 2>/dev/null)
	[[ $(ask POST /execute --header 'Content-Type: application/json' --data "$script") == 401 ]] || fail "a caller without a key was not refused"
	[[ $(ask POST /execute --header 'Content-Type: application/json' --header "Authorization: Bearer $key" --data "$script") == 200 ]] || fail "a script did not run"
	[[ $(docker exec "$name" id -u) != 0 ]] || fail "it runs as root"
	docker stop --time 20 "$name" >/dev/null
	[[ $(docker inspect --format '{{.State.ExitCode}}' "$name") == 0 ]] || fail "it did not end in order: $(docker logs "$name" 2>&1 | tail -n 5)"
}

main() {
	cd "$(dirname "${BASH_SOURCE[0]}")/.."
	[[ -x bin/airlock ]] || fail "bin/airlock is not there; run make build"
	command -v docker >/dev/null && docker version >/dev/null 2>&1 || fail "no Docker engine answers; start it (systemctl start docker)"
	build
	try
	echo "airlock-image: $image works"
}

main "$@"
