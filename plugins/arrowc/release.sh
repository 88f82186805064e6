#!/usr/bin/env bash
# Builds what a release has of the plugins: for Linux on amd64 and arm64 the wheel of the Python package, and an archive with the C
# library and its header. Both are cross compiled by zig against glibc 2.17, that of manylinux2014, and come out the same from
# the same commit.
#
#   PYTHON=python3 plugins/arrowc/release.sh FOLDER [VERSION]
#
# PYTHON has the packages ziglang, build and hatchling. PLATFORMS=linux/arm64 builds for that one alone. VERSION is that of the release; without one the archives are called
# "devel". The files of the archives stay in FOLDER/linux_GOARCH.
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: PYTHON=python3 plugins/arrowc/release.sh FOLDER [VERSION]"; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
version=${2:-}
python=${PYTHON:-python3}
case $python in */*) python=$(cd "$(dirname "$python")" && pwd)/$(basename "$python") ;; esac
cd "$(dirname "$0")"

"$python" -c 'import ziglang' 2>/dev/null || { echo "$python has no zig, which compiles for other platforms: $python -m pip install -r $PWD/requirements.txt"; exit 1; }

# A release of the Python package has the version of its source. Snapshots have any.
package=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' ../python/src/urlmill/__init__.py)
if [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ && $version != "$package" ]]; then
  echo "the release is $version, and the Python package $package: set __version__ in plugins/python/src/urlmill/__init__.py first"
  exit 1
fi

SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)} # the time of all files of archives and wheels
export SOURCE_DATE_EPOCH

# library GOARCH ZIGARCH builds linux_GOARCH/liburlmill.so, and puts beside it what goes with it.
library() {
  # CGO_CFLAGS and -s: without debug information, which would be that of C alone.
  CGO_ENABLED=1 GOOS=linux GOARCH=$1 CC="$python -m ziglang cc -target $2-linux-gnu.2.17" CGO_CFLAGS=-O2 \
    go build -buildmode=c-shared -trimpath -o "$out/linux_$1/liburlmill.so" \
    -ldflags "-s -w -buildid= -X main.release=$version '-extldflags=-Wl,--version-script=$PWD/exports.map -s'" .
  rm "$out/linux_$1/liburlmill.h" # cgo's own, which is not for users
  cp urlmill.h ../../LICENSE "$out/linux_$1/"
  (cd ../.. && CGO_ENABLED=1 go run ./internal/notices -C plugins/arrowc -platforms "linux/$1" .) >"$out/linux_$1/THIRD_PARTY_LICENSES.txt"
}

# archive GOARCH makes liburlmill_VERSION_linux_GOARCH.tar.gz.
archive() {
  tar --create --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" \
    --directory "$out/linux_$1" LICENSE THIRD_PARTY_LICENSES.txt liburlmill.so urlmill.h | gzip -n9 >"$out/liburlmill_${version:-devel}_linux_$1.tar.gz"
}

for platform in ${PLATFORMS:-linux/amd64 linux/arm64}; do
  echo "$platform"
  arch=${platform#linux/}
  case $arch in
    amd64) library amd64 x86_64 ;;
    arm64) library arm64 aarch64 ;;
    *) echo "PLATFORMS are of linux/amd64 and linux/arm64"; exit 2 ;;
  esac
  archive "$arch"
  URLMILL_BUILD_LIBRARY=$out/linux_$arch/liburlmill.so "$python" -m build --wheel --no-isolation --outdir "$out" ../python >/dev/null
done
