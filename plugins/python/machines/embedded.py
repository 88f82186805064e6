"""Unpacks a Python that is not this machine's, of the Go module github.com/kluctl/go-embed-python, which has those of the project
python-build-standalone, for other programs to embed. It needs Go, which gets the module and checks its sum.

    python3 plugins/python/machines/embedded.py VERSION PLATFORM FOLDER

VERSION is that of the module, PLATFORM linux-amd64, windows-amd64 or another that it has, FOLDER is made anew.
"""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MODULE = "github.com/kluctl/go-embed-python"


def downloaded(version: str) -> Path:
    """The folder of the module in Go's cache."""
    with tempfile.TemporaryDirectory() as outside:  # of any module
        done = subprocess.run(["go", "mod", "download", "-json", f"{MODULE}@{version}"], cwd=outside, stdout=subprocess.PIPE, text=True, check=False)
    told = json.loads(done.stdout or "{}")
    if done.returncode or "Dir" not in told:
        raise SystemExit(f"go mod download {MODULE}@{version}: {told.get('Error', 'failed')}")
    return Path(told["Dir"])


def unpack(data: Path, folder: Path) -> None:
    for entry in json.loads((data / "files.json").read_text())["files"]:
        source, to = data / entry["name"], folder / entry["name"]
        to.parent.mkdir(parents=True, exist_ok=True)
        if entry.get("symlink"):
            to.symlink_to(entry["symlink"])
        elif source.is_dir():
            to.mkdir(exist_ok=True)
        elif entry.get("compressed"):
            to.write_bytes(gzip.decompress(source.with_name(source.name + ".gz").read_bytes()))
            to.chmod(entry["perm"] & 0o777 | 0o600)
        else:
            shutil.copyfile(source, to)
            to.chmod(entry["perm"] & 0o777 | 0o600)


def main() -> None:
    if len(sys.argv) != 4:
        raise SystemExit("usage: embedded.py VERSION PLATFORM FOLDER")
    version, platform, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    data = downloaded(version) / "python" / "internal" / "data" / platform
    if not data.is_dir():
        raise SystemExit(f"{MODULE} {version} has no Python for {platform}")
    shutil.rmtree(folder, ignore_errors=True)
    unpack(data, folder)


if __name__ == "__main__":
    main()
