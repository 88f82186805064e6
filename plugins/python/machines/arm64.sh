#!/usr/bin/env bash
# Makes FOLDER/python3 and FOLDER/bin/java, a Python and a JVM for Linux on arm64 that run on another machine under emulation: Debian's
# packages, unpacked and not installed, so that it takes neither root nor a foreign architecture in dpkg. What Python imports lies in FOLDER/site.
#
#   plugins/python/machines/arm64.sh FOLDER
set -euo pipefail
[ $# = 1 ] || { echo "usage: plugins/python/machines/arm64.sh FOLDER"; exit 2; }
qemu=$(command -v qemu-aarch64-static) || { echo "there is no qemu-aarch64-static, which runs programs for arm64: apt-get install qemu-user-static"; exit 1; }
command -v apt-get dpkg >/dev/null || { echo "there is no apt-get: Python and Java for arm64 are taken from Debian's packages"; exit 1; }
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
get install --yes --no-install-recommends --download-only python3-minimal libpython3-stdlib libstdc++6 default-jre-headless
for package in "$apt"/cache/archives/*.deb; do
  dpkg-deb --extract "$package" "$folder/root"
done
[ -e "$folder/root/lib" ] || ln -s usr/lib "$folder/root/lib" # where Debian has merged the two, the link is no package's
rm -rf "$apt"

# Links to / would lead into the host.
find "$folder/root" -type l -lname '/*' -printf '%p %l\n' | while read -r link to; do ln -sfn "$folder/root$to" "$link"; done

# program NAME PATH [SETTING...] makes a program of the host, so that what Python starts by the name of sys.executable is emulated as well. Signals between
# threads are the weak point of emulated processes, and preemption is all that Go uses them for here.
program() {
  cat >"$folder/$1" <<END
#!/bin/sh
export QEMU_LD_PREFIX='$folder/root' GODEBUG="\${GODEBUG-asyncpreemptoff=1}" ${*:3}
exec '$qemu' -0 "\$0" '$2' "\$@"
END
  chmod +x "$folder/$1"
}
mkdir "$folder/bin"
program python3 "$folder/root/usr/bin/python3" "PYTHONHOME='$folder/root/usr' PYTHONPATH='$folder/site'"
program bin/java "$folder/root/usr/lib/jvm/default-java/bin/java"
"$folder/python3" -c 'import ctypes, platform; assert platform.machine() == "aarch64", platform.machine()'
"$folder/bin/java" -XshowSettings:properties -version 2>&1 | grep -q 'os.arch = aarch64'
