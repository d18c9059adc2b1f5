#!/usr/bin/env bash
# Makes the base of the sandbox's image from Debian's packages, for places where no
# image registry can be reached: mmdebstrap builds a file system, which is imported
# as airlock-base:bookworm. Does nothing when that image is there; FORCE=1 makes it
# anew. DEBIAN_MIRROR names another mirror than the usual one.
set -euo pipefail

readonly image=${BASE_TAG:-airlock-base:bookworm}

say() { printf 'sandbox-base: %s\n' "$*" >&2; }

main() {
	command -v docker >/dev/null || { say "docker is not installed; install it and start its engine"; exit 1; }
	docker version >/dev/null 2>&1 || { say "no Docker engine answers; start it (systemctl start docker)"; exit 1; }
	if [[ -z ${FORCE:-} ]] && docker image inspect "$image" >/dev/null 2>&1; then
		say "$image is there"
		return
	fi
	command -v mmdebstrap >/dev/null || { say "mmdebstrap is not installed; install it (apt-get install mmdebstrap)"; exit 1; }
	local work
	work=$(mktemp -d)
	trap "rm -rf '$work'" EXIT
	say "making $image, which takes about 20 seconds"
	mmdebstrap --quiet --variant=minbase --include=ca-certificates \
		--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		bookworm "$work/base.tar" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"}
	docker import --change 'CMD ["/bin/bash"]' "$work/base.tar" "$image" >/dev/null
	say "$image is made"
}

main "$@"
