# What the scripts have in common that cross compile the C library by zig. They source this with their own arguments, FOLDER [VERSION]: it
# sets out, version and python, checks them, goes to the folder of the script, and takes the Go of releases.
self=plugins/$(basename "$(cd "$(dirname "$0")" && pwd)")/$(basename "$0")
[ $# -ge 1 ] || { echo "usage: PYTHON=python3 $self FOLDER [VERSION]"; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
version=${2:-}
python=${PYTHON:-python3}
case $python in */*) python=$(cd "$(dirname "$python")" && pwd)/$(basename "$python") ;; esac
cd "$(dirname "$0")"

GOTOOLCHAIN=$(sed -n 's/^toolchain //p' ../arrowc/go.mod) # also where another one is installed
export GOTOOLCHAIN

"$python" -c 'import ziglang' 2>/dev/null || {
  echo "$python has no zig, which compiles for other platforms: $python -m pip install -r $(cd ../arrowc && pwd)/requirements.txt"
  exit 1
}

# linux_platforms FUNCTION calls FUNCTION GOARCH CC for each of PLATFORMS. CC compiles against glibc 2.17, that of manylinux2014.
linux_platforms() {
  local platform
  for platform in ${PLATFORMS:-linux/amd64 linux/arm64}; do
    echo "$platform"
    case $platform in
      linux/amd64) "$1" amd64 "$python -m ziglang cc -target x86_64-linux-gnu.2.17" ;;
      linux/arm64) "$1" arm64 "$python -m ziglang cc -target aarch64-linux-gnu.2.17" ;;
      *) echo "PLATFORMS are of linux/amd64 and linux/arm64"; exit 2 ;;
    esac
  done
}

# static_library GOARCH CC FILE [FLAG...] builds the C library, to be linked into another one for Linux. FLAGs are of go build.
static_library() {
  local arch=$1 cc=$2 file=$3
  (cd ../arrowc && CGO_ENABLED=1 GOOS=linux GOARCH=$arch CC=$cc CGO_CFLAGS=-O2 go build "${@:4}" -buildmode=c-archive -trimpath \
    -ldflags "-s -w -buildid= -X main.release=$version" -o "$file" .)
}
