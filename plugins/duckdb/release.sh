#!/usr/bin/env bash
# Builds DuckDB's extension as a release has it: for Linux on amd64 and arm64, cross compiled by zig against glibc 2.17. It is one file,
# with the C library in it, and comes out the same from the same commit.
#
#   PYTHON=python3 plugins/duckdb/release.sh FOLDER [VERSION]
#
# PYTHON has the package ziglang. PLATFORMS=linux/arm64 builds for that one alone. The extension is FOLDER/GOOS_GOARCH/urlmill.duckdb_extension: DuckDB
# knows an extension by the name of its file. Beside the folders are archives of them.
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: PYTHON=python3 plugins/duckdb/release.sh FOLDER [VERSION]"; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
version=${2:-}
python=${PYTHON:-python3}
case $python in */*) python=$(cd "$(dirname "$python")" && pwd)/$(basename "$python") ;; esac
cd "$(dirname "$0")"

GOTOOLCHAIN=$(sed -n 's/^toolchain //p' ../arrowc/go.mod) # also where another one is installed
export GOTOOLCHAIN
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)} # the time of all files of archives

"$python" -c 'import ziglang' 2>/dev/null || { echo "$python has no zig, which compiles for other platforms: $python -m pip install -r $PWD/../arrowc/requirements.txt"; exit 1; }

# extension GOARCH TARGET
extension() {
  local to=$out/linux_$1 cc="$python -m ziglang cc -target $2"
  mkdir -p "$to"
  (cd ../arrowc && CGO_ENABLED=1 GOOS=linux GOARCH=$1 CC=$cc CGO_CFLAGS=-O2 go build -tags read -buildmode=c-archive -trimpath \
    -ldflags "-s -w -buildid= -X main.release=$version" -o "$to/liburlmill.a" .)
  CC=$cc ./build.sh "$to/liburlmill.a" "linux_$1" "v${version:-0.0.0}" "$to/urlmill.duckdb_extension"
  rm "$to"/liburlmill.{a,h}
  cp ../../LICENSE "$to/"
  {
    (cd ../.. && CGO_ENABLED=1 go run ./internal/dev/notices -C plugins/arrowc -tags read -platforms "linux/$1" .)
    printf '\n================\nDuckDB, whose declarations are compiled in\n================\n\n'
    cat duckdb_capi/LICENSE
  } >"$to/THIRD_PARTY_LICENSES.txt"
  tar --create --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" \
    --directory "$to" LICENSE THIRD_PARTY_LICENSES.txt urlmill.duckdb_extension | gzip -n9 >"$out/urlmill_duckdb_${version:-devel}_linux_$1.tar.gz"
}

for platform in ${PLATFORMS:-linux/amd64 linux/arm64}; do
  echo "$platform"
  case $platform in
    linux/amd64) extension amd64 x86_64-linux-gnu.2.17 ;;
    linux/arm64) extension arm64 aarch64-linux-gnu.2.17 ;;
    *) echo "PLATFORMS are of linux/amd64 and linux/arm64"; exit 2 ;;
  esac
done
