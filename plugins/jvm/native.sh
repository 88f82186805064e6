#!/usr/bin/env bash
# Builds the library that the jars have in them: the C library with its JNI methods, one file for each platform, cross compiled by zig against
# glibc 2.17. It comes out the same from the same commit.
#
#   PYTHON=python3 plugins/jvm/native.sh FOLDER [VERSION]
#
# PYTHON has the package ziglang. PLATFORMS=linux/arm64 builds for that one alone. FOLDER gets io/github/urlmill/native/linux-GOARCH/liburlmill_jni.so
# with its SHA-256, and META-INF with the licences.
set -euo pipefail
. "$(dirname "$0")/../arrowc/zig.sh"

java_home=${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")}
[ -f "$java_home/include/jni.h" ] || { echo "there is no $java_home/include/jni.h: install a JDK (apt-get install openjdk-17-jdk-headless), or set JAVA_HOME to one"; exit 1; }

# library GOARCH CC
library() {
  local to=$out/io/github/urlmill/native/linux-$1
  mkdir -p "$to"
  static_library "$1" "$2" "$to/liburlmill.a"
  $2 -O2 -std=gnu11 -fPIC -fvisibility=hidden -Wall -Wextra -Werror -I../arrowc -I"$java_home/include" -I"$java_home/include/linux" \
    -shared -s -o "$to/liburlmill_jni.so" core/src/main/c/jni.c "$to/liburlmill.a" \
    -Wl,--version-script=core/src/main/c/exports.map -Wl,-z,nodelete -lpthread
  rm "$to"/liburlmill.{a,h}
  sha256sum "$to/liburlmill_jni.so" | cut -d' ' -f1 >"$to/liburlmill_jni.so.sha256"
  platforms+=,linux/$1
}

platforms=
linux_platforms library
mkdir -p "$out/META-INF"
cp ../../LICENSE "$out/META-INF/"
(cd ../.. && CGO_ENABLED=1 go run ./internal/dev/notices -C plugins/arrowc -platforms "${platforms#,}" .) >"$out/META-INF/THIRD_PARTY_LICENSES.txt"
