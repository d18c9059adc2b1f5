#!/usr/bin/env bash
# Runs every fuzz target for a time of its own, one after the other, and stops at
# the first finding; then kills a server under load 200 times (KILLS), and kills, then
# stops, one of two processes with a server of their NATS cluster while they work on 500
# tasks (TASKS).
# Usage: scripts/soak.sh 10m [package pattern]
set -euo pipefail
cd "$(dirname "$0")/.."
each="${1:-10m}"
packages="${2:-./...}"
go list -f '{{.Dir}}' "$packages" | while read -r dir; do
  files=("$dir"/*_test.go)
  [ -e "${files[0]}" ] || continue
  grep -hoE '^func Fuzz[A-Za-z0-9_]+' "${files[@]}" | sed 's/^func //' | sort -u | while read -r target; do
    echo "== ${dir#"$PWD"/} $target for $each"
    go test "$dir" -run '^$' -fuzz "^${target}\$" -fuzztime "$each"
  done
done
echo "== killing a server ${KILLS:-200} times"
AIRLOCK_KILLS="${KILLS:-200}" go test ./cmd/airlock -count=1 -v -timeout 60m -run '^TestKilledServerLosesNothing$'
echo "== killing a process and a NATS server, with ${TASKS:-500} tasks"
AIRLOCK_CLUSTER_TASKS="${TASKS:-500}" go test ./cmd/airlock -count=1 -v -timeout 30m -run '^TestCluster'
