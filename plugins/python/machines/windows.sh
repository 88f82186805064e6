#!/usr/bin/env bash
# Makes FOLDER/python3, a Python for Windows on amd64 that runs on Linux by Wine, with a Windows of its own. What it imports lies in FOLDER/site.
#
#   PYTHON=python3 plugins/python/machines/windows.sh VERSION FOLDER
#
# PYTHON has the package ziglang, and VERSION is that of the Go module that Python comes in, as embedded.py says.
set -euo pipefail
[ $# = 2 ] || { echo "usage: PYTHON=python3 plugins/python/machines/windows.sh VERSION FOLDER"; exit 2; }
python=${PYTHON:-python3}
wine=$(command -v wine64 || ls /usr/lib/wine/wine64) || { echo "there is no wine64, which runs programs for Windows: apt-get install wine64"; exit 1; }
here=$(dirname "$0")
rm -rf "$2"
mkdir -p "$2"
folder=$(cd "$2" && pwd)
"$python" "$here/embedded.py" "$1" windows-amd64 "$folder/windows"

cat >"$folder/wine64" <<END
#!/bin/sh
export WINEPREFIX='$folder/wine' WINEDEBUG="\${WINEDEBUG--all}" WINEDLLOVERRIDES='mscoree=;mshtml='
exec '$wine' "\$@"
END
# Python looks for its streams at the start, and has to find an input and, in place of a terminal, a pipe.
cat >"$folder/python3" <<END
#!/bin/bash
set -o pipefail
export PYTHONPATH='Z:$folder/site'
'$folder/wine64' '$folder/windows/python.exe' "\$@" </dev/null 2>&1 | cat
END
chmod +x "$folder/wine64" "$folder/python3"
timeout 10m "$folder/wine64" wineboot --init </dev/null >/dev/null 2>&1

# Go needs a function of Windows that Wine has had since its version 9.
if ! compgen -G '/usr/lib/*/wine/x86_64-windows/bcryptprimitives.dll' >/dev/null; then
  "$python" -m ziglang cc -target x86_64-windows-gnu -shared -O2 -s -o "$folder/wine/drive_c/windows/system32/bcryptprimitives.dll" "$here/bcryptprimitives.c" -ladvapi32
  rm -f "$folder/wine/drive_c/windows/system32/bcryptprimitives.lib"
fi
"$folder/python3" -c 'import ctypes, sys; assert sys.platform == "win32", sys.platform'
