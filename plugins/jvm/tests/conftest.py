"""What the tests share: PySpark with the jar. What is missing skips tests, and fails them with URLMILL_REQUIRE_HOSTS=1, as `make plugins-spark` sets it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

ROOT = Path(__file__).resolve().parents[3]
JARS = Path(os.environ.get("URLMILL_SPARK_JARS") or ROOT / "bin" / "jvm")
EXTENSIONS = "io.github.urlmill.spark.UrlmillExtensions"


def missing(text: str) -> NoReturn:
    if os.environ.get("URLMILL_REQUIRE_HOSTS"):
        pytest.fail(text)
    pytest.skip(text)


def jar(scala: str = "2.13") -> Path:
    file = JARS / f"urlmill-spark_{scala}.jar"
    if not file.is_file():
        missing(f"{file} is missing: make spark")
    return file


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    if importlib.util.find_spec("pyspark") is None or not shutil.which("java"):
        missing("PySpark or Java is missing: pip install pyspark, apt-get install openjdk-17-jre-headless")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.jars": str(jar()), "spark.sql.extensions": EXTENSIONS, "spark.ui.enabled": "false", "spark.driver.memory": "2g",
        "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1", "spark.sql.shuffle.partitions": "2",
        "spark.driver.extraJavaOptions": "-Xcheck:jni",
    }  # fmt: skip
    builder = SparkSession.builder.master("local[2]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def program() -> str:
    """Returns the path of the command urlmill."""
    given = os.environ.get("URLMILL_COMMAND") or shutil.which("urlmill") or str(ROOT / "bin" / "urlmill")
    if not Path(given).is_file():
        missing("the command urlmill is missing: make build, or set URLMILL_COMMAND to its path")
    return given
