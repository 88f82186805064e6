#!/usr/bin/env bash
# Builds DuckDB's extension as a release has it: for Linux on amd64 and arm64, cross compiled by zig against glibc 2.17. It is one file,
# with the C library in it, and comes out the same from the same commit.
#
#   PYTHON=python3 plugins/duckdb/release.sh FOLDER [VERSION]
#
# PYTHON has the package ziglang. PLATFORMS=linux/arm64 builds for that one alone. The extension is FOLDER/GOOS_GOARCH/urlmill.duckdb_extension: DuckDB
# knows an extension by the name of its file. Beside the folders are archives of them.
set -euo pipefail
. "$(dirname "$0")/../arrowc/zig.sh"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)} # the time of all files of archives

# extension GOARCH CC
extension() {
  local to=$out/linux_$1
  mkdir -p "$to"
  static_library "$1" "$2" "$to/liburlmill.a" -tags read
  CC=$2 ./build.sh "$to/liburlmill.a" "linux_$1" "v${version:-0.0.0}" "$to/urlmill.duckdb_extension"
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

linux_platforms extension
