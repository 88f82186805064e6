#!/usr/bin/env bash
# Links the extension with the C library as an archive, and appends what DuckDB reads before it loads one.
#
#   CC="cc" plugins/duckdb/build.sh ARCHIVE PLATFORM VERSION OUTPUT
#
# ARCHIVE is liburlmill.a, PLATFORM is what DuckDB calls it, such as linux_amd64. CC compiles for it.
set -euo pipefail
[ $# = 4 ] || { echo "usage: CC=cc plugins/duckdb/build.sh ARCHIVE PLATFORM VERSION OUTPUT"; exit 2; }
archive=$1 platform=$2 version=$3 output=$4
here=$(cd "$(dirname "$0")" && pwd)

# The version of DuckDB's C API that is asked for: the first stable one, so that every DuckDB from 1.2 on loads the same file.
api=v1.2.0

case $platform in
  windows_*) link=("$here/exports.def") ;;
  *) link=("-Wl,--version-script=$here/exports.map" -Wl,-z,nodelete -lpthread) ;;
esac
# shellcheck disable=SC2086 # CC may have arguments
${CC:-cc} ${CFLAGS:--O2} -std=gnu11 -fPIC -fvisibility=hidden -Wall -Wextra -Werror -shared -s -o "$output" \
  "$here"/{extension,functions,parse,read,text,vectors}.c "$archive" "${link[@]}"

# field TEXT writes 32 bytes.
field() {
  printf '%s' "$1"
  head -c $((32 - ${#1})) /dev/zero
}

# A section in the way of WebAssembly: its name, and 512 bytes, of which the last 256 are for a signature.
{
  printf '\0\223\004\020duckdb_signature\200\004'
  field ''; field ''; field ''
  field C_STRUCT
  field "$version"
  field "$api"
  field "$platform"
  field 4
  head -c 256 /dev/zero
} >>"$output"
