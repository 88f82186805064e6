#!/usr/bin/env bash
# Builds what a release has of the plugins: for Linux on amd64 and arm64, and for Windows on amd64, the wheel of the Python package; for
# Linux also an archive with the C library and its header. All are cross compiled by zig, for Linux against glibc 2.17, that
# of manylinux2014, and come out the same from the same commit.
#
#   PYTHON=python3 plugins/arrowc/release.sh FOLDER [VERSION]
#
# PYTHON has the packages ziglang, build and hatchling. PLATFORMS=linux/arm64 builds for that one alone. VERSION is that of the release; without one the archives are called
# "devel". The files of the archives stay in FOLDER/GOOS_GOARCH.
set -euo pipefail
. "$(dirname "$0")/zig.sh"

# A release of the Python package has the version of its source. Snapshots have any.
package=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' ../python/src/urlmill/__init__.py)
if [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ && $version != "$package" ]]; then
  echo "the release is $version, and the Python package $package: set __version__ in plugins/python/src/urlmill/__init__.py first"
  exit 1
fi

SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)} # the time of all files of archives and wheels
export SOURCE_DATE_EPOCH

# library GOOS GOARCH TARGET NAME EXPORTS builds GOOS_GOARCH/NAME by zig for TARGET, and puts beside it what goes with it. EXPORTS is the
# linker's option that says what is exported.
library() {
  local to=$out/$1_$2
  # CGO_CFLAGS and -s: without debug information, which would be that of C alone.
  CGO_ENABLED=1 GOOS=$1 GOARCH=$2 CC="$python -m ziglang cc -target $3" CGO_CFLAGS=-O2 \
    go build -buildmode=c-shared -trimpath -o "$to/$4" \
    -ldflags "-s -w -buildid= -X main.release=$version '-extldflags=$5 -s'" .
  rm "$to/${4%.*}.h" # cgo's own, which is not for users
  cp urlmill.h ../../LICENSE "$to/"
  (cd ../.. && CGO_ENABLED=1 go run ./internal/dev/notices -C plugins/arrowc -platforms "$1/$2" .) >"$to/THIRD_PARTY_LICENSES.txt"
}

# archive GOARCH makes liburlmill_VERSION_linux_GOARCH.tar.gz.
archive() {
  tar --create --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" \
    --directory "$out/linux_$1" LICENSE THIRD_PARTY_LICENSES.txt liburlmill.so urlmill.h | gzip -n9 >"$out/liburlmill_${version:-devel}_linux_$1.tar.gz"
}

# windows GOARCH TARGET builds windows_GOARCH/urlmill.dll. What it has of the C library's own, which is MinGW-w64's, is licensed, too.
windows() {
  local to=$out/windows_$1 mingw
  mkdir -p "$to"
  (echo EXPORTS && grep -o 'urlmill_[a-z_]*' exports.map) >"$to/urlmill.def"
  library windows "$1" "$2" urlmill.dll "$to/urlmill.def"
  mingw=$("$python" -c 'import ziglang, pathlib; print(pathlib.Path(ziglang.__file__).parent / "lib/libc/mingw/COPYING")')
  (printf '\n================\nMinGW-w64, whose start of a library is linked in\n================\n\n' && cat "$mingw") >>"$to/THIRD_PARTY_LICENSES.txt"
}

for platform in ${PLATFORMS:-linux/amd64 linux/arm64 windows/amd64}; do
  echo "$platform"
  file=liburlmill.so
  case $platform in
    linux/amd64) library linux amd64 x86_64-linux-gnu.2.17 $file "-Wl,--version-script=$PWD/exports.map"; archive amd64 ;;
    linux/arm64) library linux arm64 aarch64-linux-gnu.2.17 $file "-Wl,--version-script=$PWD/exports.map"; archive arm64 ;;
    windows/amd64) file=urlmill.dll; windows amd64 x86_64-windows-gnu ;;
    *) echo "PLATFORMS are of linux/amd64, linux/arm64 and windows/amd64"; exit 2 ;;
  esac
  URLMILL_BUILD_LIBRARY=$out/${platform/\//_}/$file "$python" -m build --wheel --no-isolation --outdir "$out" ../python >/dev/null
done
