"""What the tests share. A host that is missing skips its tests, and fails them with URLMILL_REQUIRE_HOSTS=1, as `make plugins` sets it."""

from __future__ import annotations

import gc
import importlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import urlmill
from urlmill import _library, _parser

ROOT = Path(__file__).resolve().parents[3]

ODD = [
    "https://www.example.co.uk/a/../b?utm_source=x&q=a+b&q=%C3%BC#top", "http://1.2.3.300/", "no url", "", None, "mailto:a@b.c",
    "https://user:pw@bücher.example:8443/ü?ä=ö", "HTTPS://EXAMPLE.COM:443/%7e/%2e%2e", "http://[::1]:80/x?y", "//relative/x", "http://a b/",
    "https://x.github.io", "file:///C|/x", "http://example.com./", "data:text/plain,x#y", "  https://space.example/\t",
]  # fmt: skip


def need(module: str, how: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError:
        text = f"{module} is missing: {how}"
        if os.environ.get("URLMILL_REQUIRE_HOSTS"):
            pytest.fail(text)
        pytest.skip(text)


@pytest.fixture(scope="session")
def command() -> Callable[..., list[dict[str, Any]]]:
    """Returns what runs `urlmill parse` on lines."""
    given = os.environ.get("URLMILL_COMMAND") or shutil.which("urlmill") or str(ROOT / "bin" / "urlmill")
    if not Path(given).is_file():
        text = "the command urlmill is missing: make build, or set URLMILL_COMMAND to its path"
        if os.environ.get("URLMILL_REQUIRE_HOSTS"):
            pytest.fail(text)
        pytest.skip(text)

    def run(urls: list[str], *flags: str) -> list[dict[str, Any]]:
        lines = "".join(json.dumps({"url": u}) + "\n" for u in urls)
        out = subprocess.run(
            [given, "parse", "-q", "--url-field", "/url", "--exclude", "file,record", *flags, "-"],
            input=lines.encode(), capture_output=True, check=True,
        )  # fmt: skip
        return [json.loads(line) for line in out.stdout.splitlines()]

    return run


@pytest.fixture(autouse=True)
def nothing_alive() -> Iterator[None]:
    """Checks that a test leaves no array and no stream behind. Threads of hosts may take a moment to let go of theirs."""
    yield
    if _library._loaded is None:
        return
    limit = time.monotonic() + 120
    gc.collect()
    while _library.library().urlmill_alive() != len(_parser._processors):
        assert time.monotonic() < limit, "a test has left arrays or streams behind"
        time.sleep(0.05)
        gc.collect()


__all__ = ["ODD", "ROOT", "need", "urlmill"]
