#!/usr/bin/env bash
# Builds the library that the jars have in them: the C library with its JNI methods, one file for each platform, cross compiled by zig against
# glibc 2.17. It comes out the same from the same commit.
#
#   PYTHON=python3 plugins/jvm/native.sh FOLDER [VERSION]
#
# PYTHON has the package ziglang. PLATFORMS=linux/arm64 builds for that one alone. FOLDER gets io/github/urlmill/native/linux-GOARCH/liburlmill_jni.so
# with its SHA-256, and META-INF with the licences.
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: PYTHON=python3 plugins/jvm/native.sh FOLDER [VERSION]"; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
version=${2:-}
python=${PYTHON:-python3}
case $python in */*) python=$(cd "$(dirname "$python")" && pwd)/$(basename "$python") ;; esac
cd "$(dirname "$0")"

GOTOOLCHAIN=$(sed -n 's/^toolchain //p' ../arrowc/go.mod) # also where another one is installed
export GOTOOLCHAIN

"$python" -c 'import ziglang' 2>/dev/null || { echo "$python has no zig, which compiles for other platforms: $python -m pip install -r $PWD/../arrowc/requirements.txt"; exit 1; }
java_home=${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")}
[ -f "$java_home/include/jni.h" ] || { echo "there is no $java_home/include/jni.h: install a JDK (apt-get install openjdk-17-jdk-headless), or set JAVA_HOME to one"; exit 1; }

# library GOARCH TARGET
library() {
  local to=$out/io/github/urlmill/native/linux-$1 cc="$python -m ziglang cc -target $2"
  mkdir -p "$to"
  (cd ../arrowc && CGO_ENABLED=1 GOOS=linux GOARCH=$1 CC=$cc CGO_CFLAGS=-O2 go build -buildmode=c-archive -trimpath \
    -ldflags "-s -w -buildid= -X main.release=$version" -o "$to/liburlmill.a" .)
  $cc -O2 -std=gnu11 -fPIC -fvisibility=hidden -Wall -Wextra -Werror -I../arrowc -I"$java_home/include" -I"$java_home/include/linux" \
    -shared -s -o "$to/liburlmill_jni.so" core/src/main/c/jni.c "$to/liburlmill.a" \
    -Wl,--version-script=core/src/main/c/exports.map -Wl,-z,nodelete -lpthread
  rm "$to"/liburlmill.{a,h}
  sha256sum "$to/liburlmill_jni.so" | cut -d' ' -f1 >"$to/liburlmill_jni.so.sha256"
  platforms+=,linux/$1
}

platforms=
for platform in ${PLATFORMS:-linux/amd64 linux/arm64}; do
  echo "$platform"
  case $platform in
    linux/amd64) library amd64 x86_64-linux-gnu.2.17 ;;
    linux/arm64) library arm64 aarch64-linux-gnu.2.17 ;;
    *) echo "PLATFORMS are of linux/amd64 and linux/arm64"; exit 2 ;;
  esac
done
mkdir -p "$out/META-INF"
cp ../../LICENSE "$out/META-INF/"
(cd ../.. && CGO_ENABLED=1 go run ./internal/dev/notices -C plugins/arrowc -platforms "${platforms#,}" .) >"$out/META-INF/THIRD_PARTY_LICENSES.txt"
