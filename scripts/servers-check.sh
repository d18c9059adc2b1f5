#!/usr/bin/env bash
# Runs every server of the catalog that can run on this machine, lists its tools,
# calls a harmless one, and writes the table of docs/SERVERS.md. It brings up what
# it finds of Redis, PostgreSQL, a browser and pgmcp, for itself and on loopback
# only; what is not there is said in the table. Packages come by npx and uvx.
# KEEP=1 prints the table and leaves the document as it is.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly document=docs/SERVERS.md begin='<!-- servers-check: begin -->' end='<!-- servers-check: end -->'
work=$(mktemp -d)
pids=()

say() { printf 'servers-check: %s\n' "$*" >&2; }

# as runs a command as another user where this one is root: PostgreSQL refuses root.
as() {
	if [[ $(id -u) == 0 ]]; then runuser -u "$1" -- "${@:2}"; else "${@:2}"; fi
}

cleanup() {
	[[ -n ${pgdata:-} ]] && as postgres "$pgbin/pg_ctl" -D "$pgdata" -m immediate stop >/dev/null 2>&1
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null; done
	rm -rf "$work"
}
trap cleanup EXIT

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# reached waits until something listens on a port of loopback.
reached() {
	for _ in $(seq 100); do
		if (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return 0; fi
		sleep 0.1
	done
	say "nothing listens on port $1"
	return 1
}

start_files() {
	export FILES_DIR=$work/files GIT_REPOSITORY=$work/repository SQLITE_FILE=$work/sample.db
	mkdir -p "$FILES_DIR"
	git init -q "$GIT_REPOSITORY"
	git -C "$GIT_REPOSITORY" -c user.name=check -c user.email=check@example.com commit -q --allow-empty -m first
	python3 -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute("CREATE TABLE customer (name TEXT)"); c.commit()' "$SQLITE_FILE"
	sed "s|@GIT_REPOSITORY@|$GIT_REPOSITORY|" test/servers/probes.json >"$work/probes.json"
}

start_redis() {
	command -v redis-server >/dev/null || { say "no redis-server: apt-get install redis-server"; return; }
	local port
	port=$(free_port)
	redis-server --bind 127.0.0.1 --port "$port" --save '' --dir "$work" >/dev/null &
	pids+=($!)
	reached "$port"
	redis-cli -p "$port" set greeting hello >/dev/null
	export REDIS_URL=redis://127.0.0.1:$port/0
}

start_postgres() {
	pgbin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
	[[ -n $pgbin ]] || { say "no PostgreSQL: apt-get install postgresql"; return; }
	local port
	port=$(free_port)
	chmod 711 "$work"
	mkdir "$work/pg"
	[[ $(id -u) == 0 ]] && chown postgres "$work/pg"
	pgdata=$work/pg/data
	as postgres "$pgbin/initdb" -D "$pgdata" -U check --auth=trust >/dev/null
	as postgres "$pgbin/pg_ctl" -D "$pgdata" -w -l "$work/pg/log" -o "-p $port -c listen_addresses=127.0.0.1 -k $work/pg" start >/dev/null
	as postgres "$pgbin/psql" -q -h 127.0.0.1 -p "$port" -U check -d postgres -c "CREATE TABLE customer (name text); INSERT INTO customer VALUES ('Ann')"
	export POSTGRES_URL="postgres://check@127.0.0.1:$port/postgres?sslmode=disable"
}

start_pgmcp() {
	local server=${PGMCP_SERVER:-pgmcp-server} port
	if [[ -z ${POSTGRES_URL:-} ]] || ! command -v "$server" >/dev/null; then
		say "no pgmcp: build its ./server at v0.3.0 and name it by PGMCP_SERVER"
		return
	fi
	port=$(free_port)
	export PGMCP_TOKEN=check-token PGMCP_URL=http://127.0.0.1:$port/mcp
	DATABASE_URL=$POSTGRES_URL HTTP_ADDR=127.0.0.1:$port AUTH_BEARER=$PGMCP_TOKEN "$server" >/dev/null 2>&1 &
	pids+=($!)
	reached "$port"
}

find_browser() {
	local browser
	browser=$(command -v chromium || command -v google-chrome || true)
	[[ -n $browser ]] || { say "no browser: apt-get install chromium"; return; }
	export CHROME_PATH=$browser
	if [[ $(id -u) == 0 ]]; then # root's browser has no sandbox of its own
		printf '#!/bin/sh\nexec %s --no-sandbox "$@"\n' "$browser" >"$work/browser"
		chmod +x "$work/browser"
		CHROME_PATH=$work/browser
	fi
}

# newer_runtimes puts a Node.js that DBHub takes first, and Pythons of pyenv last.
newer_runtimes() {
	local major
	major=$(node -p 'process.versions.node.split(".")[0]')
	if ((major < 24)); then
		PATH=$(dirname "$(npx --yes -p node@24.11.1 -c 'command -v node')"):$PATH
	fi
	for d in "$HOME"/.pyenv/versions/3.1[2-9]*/bin; do
		[[ -d $d ]] && PATH=$PATH:$d
	done
	export PATH
}

# Without an account or a service these still start and list their tools.
stand_ins() {
	export SENTRY_ACCESS_TOKEN=${SENTRY_ACCESS_TOKEN:-none} UNSTRUCTURED_API_KEY=${UNSTRUCTURED_API_KEY:-none}
	export GREPTIMEDB_HOST=${GREPTIMEDB_HOST:-127.0.0.1} GREPTIMEDB_USER=${GREPTIMEDB_USER:-none} GREPTIMEDB_PASSWORD=${GREPTIMEDB_PASSWORD:-none}
	export MONGODB_URL=${MONGODB_URL:-mongodb://127.0.0.1:9/none}
}

write_table() {
	python3 - "$document" "$begin" "$end" "$work/table" <<-'PYTHON'
		import sys
		path, begin, end, table = sys.argv[1:]
		text = open(path).read()
		before, rest = text.split(begin)
		open(path, "w").write(before + begin + "\n" + open(table).read() + end + rest.split(end)[1])
	PYTHON
}

start_files
start_redis
start_postgres
start_pgmcp
find_browser
newer_runtimes
stand_ins

status=0
DATA_DIR=$work/data LOG_LEVEL=error bin/airlock servers check --run --markdown --probes "$work/probes.json" "$@" >"$work/table" || status=$?
cat "$work/table"
if [[ -z ${KEEP:-} && $# == 0 && -s $work/table ]]; then write_table; fi
exit "$status"
