"""Processes that are forked before and after the library was loaded."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys

import pyarrow as pa
import pytest

import urlmill
from urlmill import _library

if not hasattr(os, "fork"):
    pytest.skip("this system has no fork", allow_module_level=True)

URLS = [f"https://host{i}.example/{i}" for i in range(5000)]
WANT = [f"host{i}.example" for i in range(5000)]


def child(parent_has_loaded: bool) -> None:
    assert _library._forked == parent_has_loaded and _library._loaded is None
    for _ in range(3):
        assert urlmill.parse(pa.array(URLS), columns=["host"]).field("host").to_pylist() == WANT


def forked(count: int, parent_has_loaded: bool) -> None:
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=child, args=(parent_has_loaded,)) for _ in range(count)]
    for c in children:
        c.start()
    for c in children:
        c.join(300)
        assert c.exitcode == 0, "a forked child failed, or hangs"


def test_children_of_a_parent_that_has_loaded_it() -> None:
    """Each gets a library of its own, and the parent goes on. What the parent had parsed may die in a child."""
    kept = urlmill.parse(pa.array(URLS), columns=["host"])
    forked(6, True)
    assert kept.field("host").to_pylist() == WANT == urlmill.parse(pa.array(URLS), columns=["host"]).field("host").to_pylist()


@pytest.mark.parametrize("memory", ["of glibc alone", "none"])
def test_children_without_memfd_create(memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pythons that were built for an old glibc do not have it."""
    monkeypatch.delattr(os, "memfd_create", raising=False)
    if memory == "none":
        monkeypatch.setattr(_library, "_memory", lambda: -1)
    else:
        fd = _library._memory()
        assert fd > 2
        os.close(fd)
    urlmill.version()
    forked(2, True)


def test_children_of_children() -> None:
    urlmill.version()
    context = multiprocessing.get_context("fork")

    def grandparent() -> None:
        child(True)
        forked(2, True)

    c = context.Process(target=grandparent)
    c.start()
    c.join(300)
    assert c.exitcode == 0


def test_importing_loads_nothing() -> None:
    """So that servers and Spark's daemon, which fork, can import everything before."""
    code = """
import multiprocessing, sys, urlmill
from urlmill import _library
parser = urlmill.Parser(columns=["host"])
mapped = urlmill.map_batches("url")
assert _library._loaded is None
assert "liburlmill" not in open("/proc/self/maps").read()
def child():
    assert parser.parse(["http://a/"]).to_pylist() == [{"host": "a"}] and not _library._forked
c = multiprocessing.get_context("fork").Process(target=child)
c.start(); c.join(300)
sys.exit(c.exitcode)
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=600, check=False).returncode == 0
