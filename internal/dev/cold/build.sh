#!/bin/sh
# build.sh OUTPUT TAGS builds the command urlmill, stripped and static, and says every five seconds how far it is. What Go
# downloads it says itself.
set -eu
output=$1 tags=$2
cd "$(dirname "$0")/../../.."
export CGO_ENABLED=0
go=${GO:-go}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# The Go that is there, unless it is too old for go.mod or the environment names another: the toolchain that go.mod names would
# be 75 MB more to download.
if [ -z "${GOTOOLCHAIN:-}" ] && GOTOOLCHAIN=local $go list -m >/dev/null 2>&1; then
  export GOTOOLCHAIN=local
fi

# compile has the compiler leave out the debugging information, which the linker would drop: a quarter of its time. Libraries that
# are large, and no loop over records calls, are compiled without inlining.
compile() {
  $go build -v -buildvcs=false -ldflags '-s -w' -tags "$tags" -gcflags=all=-dwarf=false \
    -gcflags='github.com/goccy/go-json/...=-dwarf=false -l' -gcflags='github.com/parquet-go/parquet-go=-dwarf=false -l' \
    -gcflags='github.com/twmb/avro=-dwarf=false -l' -gcflags='github.com/twmb/franz-go/pkg/kmsg=-dwarf=false -l' "$@"
}

# follow waits for a build, and says how far it is.
seconds=0
follow() {
  while kill -0 "$1" 2>/dev/null; do
    sleep 1
    seconds=$((seconds + 1))
    if [ $((seconds % 5)) = 0 ]; then
      [ $seconds -gt 5 ] || echo "compiling, which only the first run does:"
      echo "  $seconds s, $(wc -l <"$log" | tr -d ' ') of $all packages"
    fi
  done
  wait "$1" || { grep -v '^[A-Za-z0-9./_~-]*$' "$log"; exit 1; } # all but the names of packages
}

# The standard library needs no modules: it is compiled while they are downloaded.
compile net/http/pprof database/sql encoding/xml expvar testing text/template 2>"$log" &
build=$!
trap 'kill $build; exit 130' INT TERM
all=$($go list -deps -tags "$tags" ./cmd/urlmill | wc -l | tr -d ' ')
follow $build
compile -o "$output" ./cmd/urlmill 2>>"$log" &
build=$!
follow $build
