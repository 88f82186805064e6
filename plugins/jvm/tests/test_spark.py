"""The jar in PySpark: the page of the documentation word for word, the values of `urlmill parse`, what is in the jar, jars that do not fit."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import EXTENSIONS, JARS, ROOT, jar, missing

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


def test_stream(spark: Any, tmp_path: Path) -> None:
    """The stream of the page, started again when there are more files: each row is there once."""
    code = PAGE.read_text().split("### In a stream")[1].split("```python\n")[1].split("```")[0]
    code = re.sub(r'"(clicks|parsed|checkpoint)"', lambda m: f'"{tmp_path}/{m[1]}"', code)  # the folder of the JVM is another
    (tmp_path / "clicks").mkdir()
    for first in (0, 300):
        pages = ["no url" if i % 10 == 0 else f"https://www.example.co.uk/a/../{i}" for i in range(first, first + 300)]
        (tmp_path / "clicks" / f"{first}.json").write_text("".join(json.dumps({"user": first + i, "page": page}) + "\n" for i, page in enumerate(pages)))
        exec(code, {})
        rows = spark.read.parquet(f"{tmp_path}/parsed").orderBy("user").select("user", "site", "path", "error").collect()
        want = [(i, None, None, "missing-scheme-non-relative-URL") if i % 10 == 0 else (i, "example.co.uk", f"/{i}", None) for i in range(first + 300)]
        assert [tuple(r) for r in rows] == want


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


def build(folder: Path) -> Path:
    """Returns the modules of Maven, built in a folder of their own as the jars that are tested were."""
    ignore = shutil.ignore_patterns("target", "tests")
    shutil.copytree(ROOT / "plugins" / "jvm", folder / "plugins" / "jvm", ignore=ignore)
    with zipfile.ZipFile(jar()) as z:
        year, month, day, hour, minute, second = z.getinfo("META-INF/LICENSE").date_time
    when = f"{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"
    subprocess.run(["mvn", "-q", "-B", "-o", "-f", folder / "plugins" / "jvm" / "pom.xml", f"-Durlmill.native={JARS / 'native'}", f"-Dproject.build.outputTimestamp={when}",
                    "-DskipTests", "package"], check=True)  # fmt: skip
    return folder / "plugins" / "jvm"


def test_jars_come_out_the_same(tmp_path: Path) -> None:
    """Built again, elsewhere, they have the same bytes. Of those is what Maven Central takes, whole."""
    if not shutil.which("mvn"):
        missing("there is no mvn: apt-get install maven")
    modules = build(tmp_path)
    for module in ("core", "spark_2.12", "spark_2.13"):
        artifact = f"urlmill-{module}"
        for kind in ("", "-sources", "-javadoc"):
            again = modules / module / "target" / f"{artifact}-0.1.0{kind}.jar"
            assert again.read_bytes() == (JARS / f"{artifact}{kind}.jar").read_bytes(), again.name
    subprocess.run([modules / "bundle.sh", tmp_path], env={**os.environ, "SOURCE_DATE_EPOCH": "1"}, check=True)
    with tarfile.open(tmp_path / "urlmill-maven-0.1.0.tar.gz") as bundle:
        names = {m.name.removeprefix("io/github/urlmill/") for m in bundle if m.isfile()}
    want = {"urlmill-parent/0.1.0/urlmill-parent-0.1.0.pom"}
    for artifact in ("urlmill-core", "urlmill-spark_2.12", "urlmill-spark_2.13"):
        want |= {f"{artifact}/0.1.0/{artifact}-0.1.0{end}" for end in (".pom", ".jar", "-sources.jar", "-javadoc.jar")}
    assert names == want | {f"{name}.{kind}" for name in want for kind in ("md5", "sha1", "sha256")}


START = """
import sys
from pyspark.sql import SparkSession
b = SparkSession.builder.master("local[1]").config("spark.jars", sys.argv[1]).config("spark.sql.extensions", sys.argv[2]).config("spark.ui.enabled", "false")
b = b.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").config("spark.driver.extraJavaOptions", sys.argv[3])
b = b.config("spark.driver.extraClassPath", sys.argv[4])
print(b.getOrCreate().sql("SELECT url_host('http://a/')").collect())
"""


def start(file: Path, options: str = "", first: str = "", **env: str) -> str:
    """Returns what a session says that cannot be started with a jar, with what is first on the class path."""
    done = subprocess.run([sys.executable, "-c", START, str(file), EXTENSIONS, options, first], env={**os.environ, **env}, capture_output=True, text=True, check=False)
    assert "[Row(" not in done.stdout and done.returncode != 0
    return done.stdout + done.stderr


def test_the_jar_of_another_scala_is_refused_at_the_start(spark: Any) -> None:
    assert "the jar is urlmill-spark_2.12: take urlmill-spark_2.13" in start(jar("2.12"))


def test_an_old_spark_is_refused_at_the_start(spark: Any, tmp_path: Path) -> None:
    """The file with an older version comes first on the class path, and the jar lacks the classes that an older Spark may not be able to load."""
    (tmp_path / "spark-version-info.properties").write_text("version=3.4.4\nuser=u\nrevision=r\nbranch=b\ndate=d\nurl=u\ndocroot=d\n")
    with zipfile.ZipFile(jar()) as old, zipfile.ZipFile(tmp_path / "few.jar", "w") as new:
        for name in ("spark/UrlmillExtensions", "spark/Versions", "UrlmillException"):
            new.writestr(f"io/github/urlmill/{name}.class", old.read(f"io/github/urlmill/{name}.class"))
    assert "this is Spark 3.4.4, and the jar is for 3.5 and newer" in start(tmp_path / "few.jar", first=str(tmp_path))


def test_what_does_not_fit_is_refused_at_the_start(spark: Any, tmp_path: Path) -> None:
    file, nowhere = tmp_path / "without.jar", tmp_path / "nowhere"
    with zipfile.ZipFile(jar()) as old, zipfile.ZipFile(file, "w") as new:
        for name in (n for n in old.namelist() if not n.endswith(".so")):
            new.writestr(name, old.read(name))
    assert "the jar lacks /io/github/urlmill/native/" in start(file)
    assert f"cannot be unpacked into {nowhere}" in start(jar(), f"-Durlmill.tmpdir={nowhere}")
    assert "there is no native library for Linux on s390x: the jar has those for Linux on amd64 and arm64" in start(jar(), "-Dos.arch=s390x")
    assert "URLMILL_PSL: " in (said := start(jar(), URLMILL_PSL=str(nowhere))) and str(nowhere) in said
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
