#!/usr/bin/env bash
# Makes FOLDER/python3, a Python for Linux on arm64 that runs on another machine under emulation: Debian's packages, unpacked and not
# installed, so that it takes neither root nor a foreign architecture in dpkg. What it imports lies in FOLDER/site.
#
#   plugins/python/machines/arm64.sh FOLDER
set -euo pipefail
[ $# = 1 ] || { echo "usage: plugins/python/machines/arm64.sh FOLDER"; exit 2; }
qemu=$(command -v qemu-aarch64-static) || { echo "there is no qemu-aarch64-static, which runs programs for arm64: apt-get install qemu-user-static"; exit 1; }
command -v apt-get dpkg >/dev/null || { echo "there is no apt-get: Python for arm64 is taken from Debian's packages"; exit 1; }
rm -rf "$1"
mkdir -p "$1"
folder=$(cd "$1" && pwd)

# An apt of its own, with the system's sources and keys.
apt="$folder/apt"
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
: >"$apt/status"
get() {
  DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=3 -o APT::Architecture=arm64 -o APT::Architectures=arm64 \
    -o Dir::State="$apt" -o Dir::State::lists="$apt/lists" -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache" \
    -o APT::Sandbox::User= "$@"
}
get update
get install --yes --no-install-recommends --download-only python3-minimal libpython3-stdlib libstdc++6
for package in "$apt"/cache/archives/*.deb; do
  dpkg-deb --extract "$package" "$folder/root"
done
[ -e "$folder/root/lib" ] || ln -s usr/lib "$folder/root/lib" # where Debian has merged the two, the link is no package's
rm -rf "$apt"

# A program of the host, so that what Python starts by the name of sys.executable is emulated as well. Signals between threads are
# the weak point of emulated processes, and preemption is all that Go uses them for here.
cat >"$folder/python3" <<END
#!/bin/sh
export QEMU_LD_PREFIX='$folder/root' PYTHONHOME='$folder/root/usr' PYTHONPATH='$folder/site' GODEBUG="\${GODEBUG-asyncpreemptoff=1}"
exec '$qemu' -0 "\$0" '$folder/root/usr/bin/python3' "\$@"
END
chmod +x "$folder/python3"
"$folder/python3" -c 'import ctypes, platform; assert platform.machine() == "aarch64", platform.machine()'
