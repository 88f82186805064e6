#!/usr/bin/env bash
# cold.sh REVISION... measures what a first run takes: a clone of each revision, with empty caches of modules and builds,
# and "make demo" there to its last line. The later revisions are held against the first one. Modules come from where
# GOPROXY says.
set -euo pipefail
cd "$(dirname "$0")/../../.."
repository=$PWD
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
unset GOTOOLCHAIN # as on a machine that has a Go and no settings
TIMEFORMAT='%R %U %S'

# silence copies its input to standard error, and prints the longest time in seconds without a line.
silence() {
  local last=$SECONDS longest=0 line
  while IFS= read -r line; do
    echo "  $line" >&2
    ((SECONDS - last > longest)) && longest=$((SECONDS - last))
    last=$SECONDS
  done
  echo "$longest"
}

# first_run REVISION DIR clones and runs.
first_run() {
  git clone -q --no-checkout "$repository" "$2/clone"
  git -C "$2/clone" checkout -q --detach "$1"
  MAKEFLAGS= make -C "$2/clone" demo 2>&1 | silence >"$2/silence"
}

table=$(printf '%-12s %7s %7s %8s %9s %8s %8s %7s' revision 'wall s' 'CPU s' packages 'modules' 'MB load' 'MB size' 'quiet s')
first=
for revision in "$@"; do
  dir=$work/$revision
  mkdir "$dir"
  echo "== $revision" >&2
  export GOMODCACHE=$dir/modules GOCACHE=$dir/builds
  { time first_run "$(git rev-parse "$revision")" "$dir" 2>&3; } 3>&2 2>"$dir/time"
  read -r wall user system <"$dir/time"
  cpu=$(awk "BEGIN { print $user + $system }")
  # "go run" leaves the program in the cache of builds.
  binary=$(find "$dir" -path "$GOMODCACHE" -prune -o -type f -perm -u+x \( -name urlmill -o -name urlmill-demo \) -print -quit)
  tags=$(GOTOOLCHAIN=local go version -m "$binary" | sed -n 's/.*build.-tags=//p')
  packages=$(cd "$dir/clone" && GOTOOLCHAIN=local go list -deps -tags "$tags" ./cmd/urlmill | wc -l)
  modules=$(find "$GOMODCACHE/cache/download" -name '*.zip' | wc -l)
  loaded=$(du -sk "$GOMODCACHE/cache/download" | awk '{ printf "%.0f", $1 / 1024 }')
  size=$(wc -c <"$binary" | awk '{ printf "%.0f", $1 / 1e6 }')
  first=${first:-$cpu}
  table+=$(printf '\n%-12s %7.0f %7.0f %8d %9d %8d %8d %7d   %.2f of the CPU' \
    "$revision" "$wall" "$cpu" "$packages" "$modules" "$loaded" "$size" "$(cat "$dir/silence")" "$(awk "BEGIN { print $cpu / $first }")")
  chmod -R u+w "$dir" && rm -rf "$dir"
done
echo "$table"
