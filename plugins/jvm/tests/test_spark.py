"""The jar in PySpark: the page of the documentation word for word, the values of `urlmill parse`, what is in the jar, jars that do not fit."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import random
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import EXTENSIONS, JARS, ROOT, jar

PAGE = ROOT / "docs" / "plugins" / "spark.md"
NATIVE = "io/github/urlmill/native/linux-{}/liburlmill_jni.so"

ODD = [
    "https://www.example.co.uk/a/../b?utm_source=x&q=a+b&q=%C3%BC#top", "http://1.2.3.300/", "no url", "mailto:a@b.c", "https://user:pw@bücher.example:8443/ü?ä=ö",
    "HTTPS://EXAMPLE.COM:443/%7e/%2e%2e", "http://[::1]:80/x?y", "//relative/x", "http://a b/", "https://x.github.io", "file:///C|/x", "http://example.com./",
]  # fmt: skip

FUNCTIONS = {
    "url_host": "host", "url_registrable_domain": "registrable_domain", "url_public_suffix": "public_suffix", "url_origin": "origin",
    "url_path": "path", "url_query": "query", "url_params": "params", "url_error": "url_error", "url_error_pos": "url_error_pos",
}  # fmt: skip


def test_page(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A statement's rows are in the comments behind it."""
    monkeypatch.chdir(tmp_path)
    compared = 0
    for block in re.findall(r"```sql\n(.*?)```", PAGE.read_text(), re.DOTALL):
        for statement, answer in re.findall(r"(.*?);\n((?:-- [^\n]*\n)*)", block, re.DOTALL):
            rows = spark.sql(statement).collect()
            if answer:
                compared += 1
                assert [repr(tuple(r)) for r in rows] == [line.removeprefix("-- ") for line in answer.splitlines()], statement
    assert compared >= 3


def test_functions_are_in_the_table(spark: Any) -> None:
    named = set(re.findall(r"`(url\w+)\(", PAGE.read_text().split("### Functions")[1].split("```")[0]))
    there = {r[0] for r in spark.sql("SHOW FUNCTIONS LIKE 'url*'").collect()}
    assert named == there - {"url_decode", "url_encode"}
    assert "the first value of a parameter" in str(spark.sql("DESCRIBE FUNCTION url_param").collect())


def lines(rows: int) -> Iterator[str]:
    r = random.Random(11)
    for i in range(rows):
        url = r.choice(ODD) if i % 4 == 0 else f"https://www.h{i % 9973}.co.uk:{i % 9}/{i}/../x/{i * 7919}?q={i}&utm_source=a+b"
        at = r.randrange(len(url) + 1)
        yield url[:at] + r.choice(["", "", "", "%41", "ü", "\\", ":", "@", " ", "..", "?", "#"]) + url[at:] + "\n"


def test_many_rows_are_those_of_urlmill_parse(spark: Any, program: str, tmp_path: Path) -> None:
    rows = int(os.environ.get("URLMILL_SPARK_ROWS") or 200_000)
    with open(tmp_path / "urls.txt", "w") as f:
        f.writelines(lines(rows))
    subprocess.run([program, "parse", "-q", tmp_path / "urls.txt", "-o", tmp_path / "out", "--codec", "lines"], check=True)
    spark.read.option("recursiveFileLookup", "true").parquet(str(tmp_path / "out")).createOrReplaceTempView("parsed")
    parts = spark.sql("SELECT urlmill_parse('http://a/') AS p").schema["p"].dataType.names
    differ = [f"urlmill_parse(url).{n} <=> {n}" for n in parts] + [f"{f}(url) <=> {c}" for f, c in FUNCTIONS.items()]
    differ = [d for d in differ if "params" not in d] + ["to_json(url_params(url)) <=> to_json(params)", "to_json(urlmill_parse(url).params) <=> to_json(params)"]
    assert spark.sql(f"SELECT count(*), count_if(NOT ({' AND '.join(differ)})), count_if(url_error IS NOT NULL) > 0 FROM parsed").collect() == [(rows, 0, True)]


def test_data_frames(spark: Any) -> None:
    from pyspark.sql import functions as f

    df = spark.createDataFrame([("https://www.example.co.uk/a?q=tea+pot",), (None,)], "u string")
    assert df.select(f.call_function("url_param", "u", f.lit("q")), f.expr("url_host(u)")).collect() == [("tea pot", "www.example.co.uk"), (None, None)]


def test_python_functions_beside(spark: Any) -> None:
    """Rows go through Python's workers before and behind, which read batches on a thread of their own."""
    from pyspark.sql import functions as f

    upper = f.udf(lambda s: s and s.upper(), "string")
    df = spark.range(30_000).select(f.concat(f.lit("http://h"), "id", f.lit(".example/")).alias("u"))
    got = df.select(upper(f.expr("url_host(u)")).alias("h"), f.expr("url_host(u)").alias("g")).where("g <> 'h3.example'")
    assert got.where("h <> upper(g)").count() == 0 and got.count() == 29_999
    assert got.limit(5).count() == 5
    assert df.select(f.call_function("url_host", upper("u")).alias("h")).where("h NOT LIKE 'h%.example'").count() == 0


def test_what_is_in_the_jars() -> None:
    for scala in ("2.12", "2.13"):
        with zipfile.ZipFile(jar(scala)) as z:
            names = z.namelist()
            assert len(names) == len(set(names)) and {"META-INF/LICENSE", "META-INF/THIRD_PARTY_LICENSES.txt"} <= set(names)
            assert "golang.org/x/net" in z.read("META-INF/THIRD_PARTY_LICENSES.txt").decode()
            there = [m for m in ("amd64", "arm64") if NATIVE.format(m) in names]
            assert there == (["amd64", "arm64"] if not os.environ.get("PLATFORMS") else there) and there
            for machine in there:
                assert hashlib.sha256(z.read(NATIVE.format(machine))).hexdigest() == z.read(NATIVE.format(machine) + ".sha256").decode().strip()
            foreign = [n for n in names if not n.startswith(("io/", "META-INF/"))]
            assert foreign == [] and len({z.getinfo(n).date_time for n in names}) == 1
        for kind in ("sources", "javadoc"):
            assert zipfile.ZipFile(JARS / f"urlmill-spark_{scala}-{kind}.jar").namelist()


START = """
import sys
from pyspark.sql import SparkSession
b = SparkSession.builder.master("local[1]").config("spark.jars", sys.argv[1]).config("spark.sql.extensions", sys.argv[2]).config("spark.ui.enabled", "false")
b = b.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").config("spark.driver.extraJavaOptions", sys.argv[3])
print(b.getOrCreate().sql("SELECT url_host('http://a/')").collect())
"""


def start(file: Path, options: str = "") -> str:
    """Returns what a session says that is started with a jar."""
    done = subprocess.run([sys.executable, "-c", START, str(file), EXTENSIONS, options], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_the_jar_of_another_scala_is_refused_at_the_start(spark: Any) -> None:
    assert "the jar is urlmill-spark_2.12: take urlmill-spark_2.13" in start(jar("2.12"))


def test_a_jar_that_does_not_fit_is_refused_at_the_start(spark: Any, tmp_path: Path) -> None:
    file, nowhere = tmp_path / "without.jar", tmp_path / "nowhere"
    with zipfile.ZipFile(jar()) as old, zipfile.ZipFile(file, "w") as new:
        for name in (n for n in old.namelist() if not n.endswith(".so")):
            new.writestr(name, old.read(name))
    assert "the jar lacks /io/github/urlmill/native/" in start(file)
    assert f"cannot be unpacked into {nowhere}" in start(jar(), f"-Durlmill.tmpdir={nowhere}")
    assert list(tmp_path.glob("urlmill-*")) == []


def test_the_library_as_an_old_glibc_sees_it(tmp_path: Path) -> None:
    """Nothing newer than 2.17 is asked for, and nothing is exported but the methods of Java."""
    if not shutil.which("readelf"):
        pytest.skip("there is no readelf (binutils)")
    with zipfile.ZipFile(jar()) as z:
        for name in (n for n in z.namelist() if n.endswith(".so")):
            z.extract(name, tmp_path)
            symbols = subprocess.run(["readelf", "--dyn-syms", "--wide", tmp_path / name], capture_output=True, text=True, check=True).stdout
            versions = {tuple(map(int, v.split("."))) for v in re.findall(r"@GLIBC_([\d.]+)", symbols)}
            assert versions and max(versions) <= (2, 17)
            exported = {line.split()[-1] for line in symbols.splitlines() if re.search(r" (GLOBAL|WEAK) +DEFAULT +\d+ ", line)}
            assert exported and all(e.startswith("Java_io_github_urlmill_Native_") for e in exported)


CLUSTER = """
import os, sys
from pyspark.sql import SparkSession
b = SparkSession.builder.master("local-cluster[1,1,512]").config("spark.executor.memory", "512m").config("spark.ui.enabled", "false")
b = b.config("spark.jars", sys.argv[1]).config("spark.sql.extensions", sys.argv[2]).config("spark.files", os.environ["URLMILL_PSL"])
b = b.config("spark.executorEnv.URLMILL_PSL", "public_suffix_list.dat").config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
s = b.getOrCreate()
print(s.sql("SELECT url_registrable_domain('http://a.b.example.com/') AS c, url_registrable_domain(concat('http://a.b.example.com/', id)) AS r FROM range(1)").collect())
"""


def test_a_newer_list_on_a_cluster(spark: Any, tmp_path: Path) -> None:
    """The driver has the file where it is, executors where Spark puts it."""
    where = Path(importlib.util.find_spec("pyspark").origin).parent / "work"  # type: ignore[union-attr,arg-type]
    before = set(where.glob("*"))
    rules, work = tmp_path / "public_suffix_list.dat", tmp_path / "work"
    rules.write_text("// ===BEGIN ICANN DOMAINS===\ncom\nexample.com\n// ===END ICANN DOMAINS===\n")
    work.mkdir()
    done = subprocess.run([sys.executable, "-c", CLUSTER, str(jar()), EXTENSIONS], env={**os.environ, "URLMILL_PSL": str(rules), "SPARK_LOCAL_IP": "127.0.0.1"},
                          cwd=work, capture_output=True, text=True, check=False)  # fmt: skip
    for app in set(where.glob("*")) - before:
        shutil.rmtree(app)
    assert "[Row(c='b.example.com', r='b.example.com')]" in done.stdout, done.stderr
