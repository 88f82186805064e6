"""The C library liburlmill, by ctypes: no compiler is needed, and calls let go of the GIL.

It is loaded when it is first used. A library with threads of its own does not survive fork(), so a child of a process that
had loaded it (multiprocessing with the method "fork", prefork servers) loads a copy of its own from memory.
Spark's workers are forked from a daemon that has not loaded it, and load the file.
"""

from __future__ import annotations

import ctypes
import errno
import importlib.resources
import json
import os
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

ABI = 1
NAME = "urlmill.dll" if sys.platform == "win32" else "liburlmill.so"


class Error(ValueError):
    """Options that are wrong, input that does not fit, or an error of the stream that was read.

    A text that is no URL is none of these: it has its reason in the column url_error.
    """


class Stream(ctypes.Structure):
    """struct ArrowArrayStream. Only its address is used here."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("get_schema", "get_next", "get_last_error", "release", "private_data")]


_lock = threading.Lock()
_loaded: ctypes.CDLL | None = None
_forked = False  # whether the process before had loaded it


def _in_child() -> None:
    global _lock, _loaded, _forked
    _lock = threading.Lock()  # another thread of the parent may have held it
    _forked = _forked or _loaded is not None
    _loaded = None


if hasattr(os, "register_at_fork"):  # else there is no fork
    os.register_at_fork(after_in_child=_in_child)


def _open(path: str) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(path)
    except OSError as e:
        raise ImportError(f"urlmill: {path} cannot be loaded: {e}") from e


def _memory() -> int:
    """Returns a file of memory, or -1 where there is none. Python has no memfd_create if it was built for an old glibc, as those that uv
    installs are, while the glibc that it runs with has it."""
    if hasattr(os, "memfd_create"):
        return int(os.memfd_create("liburlmill"))
    create = getattr(ctypes.CDLL(None), "memfd_create", None)
    return -1 if create is None else int(create(b"liburlmill", 1))  # MFD_CLOEXEC


def _copy(path: Path) -> ctypes.CDLL:
    """Loads a copy that shares nothing with what was loaded before the fork."""
    fd, name = _memory(), ""
    if fd >= 0:
        opened = f"/proc/self/fd/{fd}"
    else:
        fd, name = tempfile.mkstemp(prefix="liburlmill")
        opened = name
    try:
        content = path.read_bytes()
        done = 0
        while done < len(content):
            done += os.write(fd, content[done:])
        return _open(opened)
    finally:
        os.close(fd)
        if name:
            os.unlink(name)


def _find() -> ctypes.CDLL:
    given = os.environ.get("URLMILL_LIBRARY")
    if given:
        return _copy(Path(given)) if _forked else _open(given)
    packaged = importlib.resources.files(__package__) / NAME
    if packaged.is_file():
        with importlib.resources.as_file(packaged) as path:  # a file of a moment where the package is in a zip
            return _copy(path) if _forked else _open(str(path))
    for above in Path(__file__).resolve().parents:
        built = above / "bin" / "lib" / NAME
        if built.is_file() and (above / "plugins" / "arrowc").is_dir():
            return _copy(built) if _forked else _open(str(built))
    raise ImportError(
        f"urlmill: {NAME} is missing: install the wheel, or run `make arrowc` in a clone, or set URLMILL_LIBRARY to its path"
    )


def library() -> ctypes.CDLL:
    """Returns the library of this process."""
    global _loaded
    lib = _loaded
    if lib is not None:
        return lib
    with _lock:
        if _loaded is None:
            lib = _find()
            lib.urlmill_abi.restype = ctypes.c_int32
            lib.urlmill_alive.restype = ctypes.c_int64
            lib.urlmill_version.restype = ctypes.c_char_p
            lib.urlmill_free.argtypes = [ctypes.c_void_p]
            lib.urlmill_processor_free.argtypes = [ctypes.c_void_p]
            lib.urlmill_processor_new.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
            lib.urlmill_parse.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
            lib.urlmill_parse_array.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
            if lib.urlmill_abi() != ABI:
                raise ImportError(f"urlmill: the library has version {lib.urlmill_abi()} of the interface, and the package needs {ABI}")
            _loaded = lib
        return _loaded


def version() -> dict[str, Any]:
    """The versions of the library, its interface, the Public Suffix List, Unicode and Go."""
    text = library().urlmill_version()
    return dict(json.loads(text))


class Processor:
    """A processor of the library: a checked set of options. It may be used by many threads at once."""

    def __init__(self, options: str) -> None:
        self._library = library()
        self._pid = os.getpid()
        self._handle = ctypes.c_void_p()
        error = ctypes.c_void_p()
        if self._library.urlmill_processor_new(options.encode(), ctypes.byref(self._handle), ctypes.byref(error)):
            text = ctypes.string_at(error.value or 0).decode() if error.value else "out of memory"
            self._library.urlmill_free(error)
            raise Error(text)

    def is_of_this_process(self) -> bool:
        return self._pid == os.getpid()

    def parse(self, reader: int, out: int) -> None:
        """Moves the stream at the address reader into a new one at the address out, which has the errors."""
        self._library.urlmill_parse(self._handle, reader, out)

    def parse_array(self, schema: int, array: int, out: int) -> bool:
        """Moves the array at an address, of the schema at another, and makes a new one at the address out; False where it is too large."""
        error = ctypes.c_void_p()
        code = self._library.urlmill_parse_array(self._handle, schema, array, out, ctypes.byref(error))
        if code:
            text = ctypes.string_at(error.value or 0).decode() if error.value else "out of memory"
            self._library.urlmill_free(error)
            if code != errno.E2BIG:
                raise Error(text)
        return not code

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle is not None and handle.value and self.is_of_this_process():
            self._library.urlmill_processor_free(handle)
            self._handle = ctypes.c_void_p()
