"""Puts the C library into the wheel, so that its users need no compiler, and the licences of what it is made of.

The library is the file that URLMILL_BUILD_LIBRARY names, or is built by `make arrowc` in the repository around this folder.
The wheel is for the platform of that file, and for every Python: nothing in it is linked with one.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# e_machine of ELF, and what Python calls the machine.
MACHINES = {62: "x86_64", 183: "aarch64"}


def tag(library: bytes) -> str:
    """The tag of a wheel with that library: the machine it is for, and for Linux the newest version of glibc that it asks for, not below
    that of manylinux2014."""
    header = int.from_bytes(library[60:64], "little")  # of PE, in a file for Windows
    if library[:2] == b"MZ" and library[header : header + 6] == b"PE\0\0\x64\x86":
        return "py3-none-win_amd64"
    machine = MACHINES.get(int.from_bytes(library[18:20], "little")) if library[:6] == b"\x7fELF\2\1" else None
    if machine is None:
        raise SystemExit("the library is not for Linux on x86_64 or aarch64 nor for Windows on amd64, and there are wheels for these alone")
    found = {(int(a), int(b)) for a, b in re.findall(rb"GLIBC_(\d+)\.(\d+)", library)}
    major, minor = max(found | {(2, 17)})
    return f"py3-none-manylinux_{major}_{minor}_{machine}"


class Hook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name == "sdist":
            raise SystemExit("there is no source distribution: the library is built from all of urlmill's repository; build a wheel, or install from a clone")
        if version == "editable":
            return  # a clone has the library in bin/lib
        given = os.environ.get("URLMILL_BUILD_LIBRARY")
        if given:
            library = Path(given)
        else:
            root = Path(self.root).parent.parent
            if not (root / "plugins" / "arrowc").is_dir():
                raise SystemExit("a wheel is built in a clone of urlmill's repository, or with URLMILL_BUILD_LIBRARY=/path/to/liburlmill.so")
            subprocess.run(["make", "-s", "arrowc"], cwd=root, check=True)
            library = root / "bin" / "lib" / "liburlmill.so"
        build_data["tag"] = tag(library.read_bytes())
        build_data["pure_python"] = False
        licences = library.with_name("THIRD_PARTY_LICENSES.txt")
        if not licences.is_file():
            raise SystemExit(f"there is no {licences}, which goes with the library: build both with make arrowc")
        build_data["force_include"][str(library)] = "urlmill/urlmill.dll" if build_data["tag"].endswith("win_amd64") else "urlmill/liburlmill.so"
        build_data["force_include"][str(licences)] = f"urlmill/{licences.name}"
