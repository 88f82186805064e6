#!/bin/sh
# build.sh OUTPUT TAGS builds the command urlmill, stripped and static, and says every five seconds how far it is. What Go
# downloads it says itself.
set -eu
output=$1 tags=$2
cd "$(dirname "$0")/../../.."
export CGO_ENABLED=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

all=$(${GO:-go} list -deps -tags "$tags" ./cmd/urlmill | wc -l | tr -d ' ')
${GO:-go} build -v -buildvcs=false -trimpath -ldflags '-s -w' -tags "$tags" -o "$output" ./cmd/urlmill 2>"$log" &
build=$!
trap 'kill $build; exit 130' INT TERM
seconds=0
while kill -0 $build 2>/dev/null; do
  sleep 1
  seconds=$((seconds + 1))
  if [ $((seconds % 5)) = 0 ]; then
    [ $seconds -gt 5 ] || echo "compiling, which only the first run does:"
    echo "  $seconds s, $(wc -l <"$log" | tr -d ' ') of $all packages"
  fi
done
wait $build || { grep -v '^[A-Za-z0-9./_~-]*$' "$log"; exit 1; } # all but the names of packages
