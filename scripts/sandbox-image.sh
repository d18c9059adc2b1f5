#!/usr/bin/env bash
# Builds airlock-sandbox:latest from Dockerfile.sandbox. Does nothing when the image
# was made from the same inputs, which a label of it holds; FORCE=1 builds anew.
#
# BASE_IMAGE is the base; without it airlock-base:bookworm where that is there
# (scripts/sandbox-base.sh makes it), else the Dockerfile's own.
set -euo pipefail

readonly image=${IMAGE:-airlock-sandbox:latest}
readonly label=airlock.sandbox.inputs
readonly inputs=(Dockerfile.sandbox runtime/docker/image runtime/helpers/js runtime/helpers/python runtime/helpers/bash)

say() { printf 'sandbox-image: %s\n' "$*" >&2; }

# files lists what the image is made of, without what running it in place left.
files() { find "${inputs[@]}" -type f ! -name '*.pyc' ! -name '*.go' ! -path '*/tests/*' | LC_ALL=C sort; }

base() {
	if [[ -n ${BASE_IMAGE:-} ]]; then
		echo "$BASE_IMAGE"
	elif docker image inspect airlock-base:bookworm >/dev/null 2>&1; then
		echo airlock-base:bookworm
	fi
}

main() {
	cd "$(dirname "${BASH_SOURCE[0]}")/.."
	command -v docker >/dev/null || { say "docker is not installed; install it and start its engine"; exit 1; }
	docker version >/dev/null 2>&1 || { say "no Docker engine answers; start it (systemctl start docker)"; exit 1; }
	local base hash arguments=()
	base=$(base)
	[[ -n $base ]] && arguments=(--build-arg "BASE_IMAGE=$base")
	hash=$({ echo "$base"; docker image inspect --format '{{.Id}}' "$base" 2>/dev/null || true; files | xargs sha256sum; } | sha256sum | cut -d' ' -f1)
	if [[ -z ${FORCE:-} && $(docker image inspect --format "{{index .Config.Labels \"$label\"}}" "$image" 2>/dev/null) == "$hash" ]]; then
		say "$image is up to date"
		return
	fi
	say "building $image; the first time takes some minutes"
	# The context is piped, so that nothing else of the folder is sent. The builder's
	# own talk is of use only when it fails.
	local talk
	talk=$(mktemp)
	trap "rm -f '$talk'" EXIT
	files | tar --create --mode=a+rX,go-w --owner=0 --group=0 --mtime=@0 --files-from=- |
		DOCKER_BUILDKIT=0 docker build --quiet --network host --label "$label=$hash" --tag "$image" \
			"${arguments[@]}" --file Dockerfile.sandbox - >"$talk" 2>&1 || { cat "$talk" >&2; say "the build failed"; exit 1; }
	say "$image is built"
}

main "$@"
