"""Values, nulls, vectors of every kind, many functions at once, threads, forks, memory."""

from __future__ import annotations

import itertools
import os
import random
import resource
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pytest
from conftest import HERE, ROOT, connect

ODD = [
    "https://www.example.co.uk/a/../b?utm_source=x&q=a+b&q=%C3%BC#top", "http://1.2.3.300/", "no url", "", None, "mailto:a@b.c",
    "https://user:pw@bücher.example:8443/ü?ä=ö", "HTTPS://EXAMPLE.COM:443/%7e/%2e%2e", "http://[::1]:80/x?y", "//relative/x", "http://a b/",
    "https://x.github.io", "file:///C|/x", "http://example.com./", "data:text/plain,x#y", "  https://space.example/\t", "http://a1.example/", "http://a12.example/",
]  # fmt: skip

FUNCTIONS = {
    "url_host(u)": "host", "url_registrable_domain(u)": "registrable_domain", "url_public_suffix(u)": "public_suffix", "url_origin(u)": "origin",
    "url_path(u)": "path", "url_query(u)": "query", "url_params(u)": "params", "url_error(u)": "url_error", "url_error_pos(u)": "url_error_pos",
}  # fmt: skip


def truth(con: duckdb.DuckDBPyConnection, urls: list[str | None]) -> dict[str | None, dict[str, Any]]:
    """Returns what becomes of each URL by itself, which is one row and no vector."""
    return {u: con.execute("SELECT urlmill_parse($1)", [u]).fetchone()[0] or {} for u in set(urls)}  # type: ignore[index]


def test_null_gives_null(con: duckdb.DuckDBPyConnection) -> None:
    calls = [*FUNCTIONS, "url_param(u, 'q')", "url_surt(u)", "url_canonical(u, 'dedupe')", "urlmill_parse(u)", "urlmill_parse(u, 'http://a/')", "urlmill_parse(u).url_error"]
    assert con.sql(f"SELECT {', '.join(calls)} FROM (VALUES (NULL::VARCHAR)) t(u)").fetchall() == [(None,) * len(calls)]


def test_what_is_no_url_is_null_with_its_error(con: duckdb.DuckDBPyConnection) -> None:
    row = con.execute("SELECT url_host(u), url_error(u), url_error_pos(u), urlmill_parse(u).href, urlmill_parse(u).url_error FROM (VALUES ('http://1.2.3.300/')) t(u)").fetchone()
    assert row == (None, "IPv4-out-of-range-part", 13, None, "IPv4-out-of-range-part")


def test_a_base(con: duckdb.DuckDBPyConnection) -> None:
    rows = con.sql("SELECT urlmill_parse(u, b).href FROM (VALUES ('b', 'http://a/x/'), ('b', NULL), (NULL, 'http://a/'), ('http://c/', 'no base')) t(u, b)").fetchall()
    assert [r[0] for r in rows] == ["http://a/x/b", None, None, None]
    assert con.execute("SELECT urlmill_parse('http://c/', 'no base').url_error").fetchone()[0].startswith("base-")  # type: ignore[index]


def test_parameters(con: duckdb.DuckDBPyConnection) -> None:
    rows = con.sql("SELECT url_param('http://a/?q=1&q=2&empty=&n%C3%A4me=v+w', n) FROM (VALUES ('q'), ('empty'), ('näme'), ('none'), ('Q'), (NULL)) t(n)").fetchall()
    assert [r[0] for r in rows] == ["1", "", "v w", None, None, None]


def test_forms_may_differ_by_row(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE TABLE t AS SELECT 'http://www.a.example/' || i || '?b=1&a=2' AS u, ['strict', 'dedupe', 'surt-ia', 'surt-cc', NULL][i % 5 + 1] AS f FROM range(5000) r(i)")
    rows = con.sql("SELECT u, f, url_canonical(u, f), CASE f WHEN 'strict' THEN url_canonical(u, 'strict') WHEN 'dedupe' THEN url_canonical(u, 'dedupe') "
                   "WHEN 'surt-ia' THEN url_canonical(u, 'surt-ia') WHEN 'surt-cc' THEN url_canonical(u, 'surt-cc') END FROM t").fetchall()  # fmt: skip
    assert all(got == want and (got is None) == (form is None) for _, form, got, want in rows) and len({r[2] for r in rows}) == 4001
    with pytest.raises(duckdb.Error, match='"shortest" is none of strict, dedupe, surt-ia, surt-cc'):
        con.sql("SELECT url_canonical('http://a/', 'shortest')").fetchall()


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 2047, 2048, 2049, 10_000])
def test_every_size_of_vectors(con: duckdb.DuckDBPyConnection, rows: int) -> None:
    urls = [ODD[i % len(ODD)] for i in range(rows)]
    want = truth(con, urls)
    con.execute("CREATE TABLE t (i INTEGER, u VARCHAR)")
    if rows:
        con.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(urls)))
    got = con.sql(f"SELECT {', '.join(FUNCTIONS)}, urlmill_parse(u) FROM t ORDER BY i").fetchall()
    assert len(got) == rows
    for url, row in zip(urls, got, strict=True):
        assert row[:-1] == tuple(want[url].get(c) for c in FUNCTIONS.values()) and (row[-1] or {}) == want[url]


def test_vectors_of_every_kind(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """Constants, dictionaries of Parquet and of storage, selections of filters, lists taken apart."""
    con.execute("CREATE TABLE t AS SELECT i, 'https://host' || i % 7 || '.example.co.uk/' || i % 3 || '/long/enough/not/to/be/inlined' AS u FROM range(20000) r(i)")
    con.execute(f"COPY t TO '{tmp_path}/t.parquet' (ROW_GROUP_SIZE 4096)")
    for source in ("t", f"'{tmp_path}/t.parquet'", "(SELECT i, unnest([u, u]) AS u FROM t)", "(SELECT i, u FROM t WHERE i % 3 = 1)", "(SELECT a.i, b.u FROM t a JOIN t b USING (i))"):
        wrong = con.sql(f"SELECT count(*) FROM {source} WHERE url_host(u) <> regexp_extract(u, '//([^/]*)', 1) OR url_path(u) <> regexp_extract(u, '//[^/]*(.*)', 1)").fetchall()
        assert wrong == [(0,)]
    assert con.sql("SELECT count(*) FROM t WHERE url_host('http://a.example/') = 'a.example'").fetchall() == [(20000,)]


def test_functions_of_several_columns_do_not_mix(con: duckdb.DuckDBPyConnection) -> None:
    """What is kept of one vector is never taken for another's, in whatever order functions ask."""
    rng = random.Random(7)
    con.execute("SET threads = 1")
    urls = [u for u in ODD if u is not None] + [f"https://h{i}.example/{i}?q={i}" for i in range(50)]
    want = truth(con, [*urls, None])
    con.execute("CREATE TABLE t AS SELECT i, $1[(i * 7919) % len($1) + 1] AS a, $1[(i * 104729) % len($1) + 1] AS b, $1[i % 3 + 1] AS c FROM range(9000) r(i)", [urls])
    for _ in range(25):
        calls = [(rng.choice(list(FUNCTIONS)), rng.choice("abc")) for _ in range(rng.randint(1, 12))]
        where = rng.choice(["true", "i % 5 <> 0", "url_host(b) IS NOT NULL", "url_error(a) IS NULL"])
        columns = ", ".join(f.replace("(u)", f"({c})") for f, c in calls)
        for row in con.execute(f"SELECT a, b, c, {columns} FROM t WHERE {where}").fetchall():
            of = dict(zip("abc", row[:3], strict=True))
            assert row[3:] == tuple(want[of[c]].get(FUNCTIONS[f]) for f, c in calls)


def ask_for_many_sets(con: duckdb.DuckDBPyConnection) -> None:
    """Asks for more sets of columns than there may be processors in a process."""
    con.execute("SET threads = 1")
    con.execute("CREATE TABLE t AS SELECT 'https://h' || i || '.example/p?q=1' AS u FROM range(3000) r(i)")
    for some in itertools.islice(itertools.combinations(FUNCTIONS, 3), 80):
        assert len(con.sql(f"SELECT DISTINCT url_host(u), {', '.join(some)} FROM t").fetchall()) == 3000


def test_more_sets_of_columns_than_processors(con: duckdb.DuckDBPyConnection) -> None:
    ask_for_many_sets(con)


FIELDS = ("href VARCHAR, scheme VARCHAR, has_username BOOLEAN, host VARCHAR, port INTEGER, origin VARCHAR, registrable_domain VARCHAR, public_suffix VARCHAR, path VARCHAR, "
          'query VARCHAR, params STRUCT("key" VARCHAR, "value" VARCHAR)[], fragment VARCHAR, url_error VARCHAR, url_error_pos INTEGER')  # fmt: skip


def test_a_later_load_has_the_same_fields(extension: Path) -> None:
    """The struct has the fields that are written and no other, in a database that is opened when there are many processors already, too."""
    ask_for_many_sets(connect(extension))
    later = connect(extension).execute("SELECT return_type FROM duckdb_functions() WHERE function_name = 'urlmill_parse'").fetchall()
    assert later == [(f"STRUCT({FIELDS})",)] * 2


def test_as_urlmill_parse(con: duckdb.DuckDBPyConnection, program: str, tmp_path: Path) -> None:
    """What the command writes is what the functions give for the same URLs."""
    rng = random.Random(11)
    lines = []
    for i in range(20_000):
        url = rng.choice([u for u in ODD if u and "\n" not in u]) if i % 3 else f"https://www.h{i}.co.uk:{i % 9}/{i}/../x?q={i}"
        at = rng.randrange(len(url) + 1)
        lines.append(url[:at] + rng.choice(["", "", "%41", "ü", "\\", ":", "@", " ", "..", "?", "#"]) + url[at:])
    (tmp_path / "urls.txt").write_text("".join(line + "\n" for line in lines))
    subprocess.run([program, "parse", "-q", tmp_path / "urls.txt", "-o", tmp_path / "out", "--codec", "lines"], check=True)
    assert compare(con, tmp_path / "out") == len(lines)


def compare(con: duckdb.DuckDBPyConnection, folder: Path) -> int:
    """Compares rows of Parquet that the command has written with those that DuckDB makes of the same URLs. Returns their number."""
    names = [n for n in con.sql("SELECT unnest(urlmill_parse('http://a/'))").columns]
    differ = " OR ".join([f"u.{n} IS DISTINCT FROM {n}" for n in names] + [f"{f.replace('(u)', '(url)')} IS DISTINCT FROM {c}" for f, c in FUNCTIONS.items()])
    rows, wrong = con.execute(f"SELECT count(*), count(*) FILTER ({differ}) FROM (SELECT *, urlmill_parse(url) AS u FROM '{folder}/**/*.parquet' WHERE url IS NOT NULL)").fetchone()  # type: ignore[misc]
    assert wrong == 0
    return int(rows)


def test_threads(extension: Path) -> None:
    """Many connections at once, and threads that come and go."""
    con = connect(extension)
    con.execute("CREATE TABLE t AS SELECT i, 'https://h' || i % 100 || '.example.co.uk/p' || i || '?q=' || i AS u FROM range(60000) r(i)")

    def work(k: int) -> list[Any]:
        mine = con.cursor()
        mine.execute(f"SET threads = {1 + k % 4}")
        if k % 2:
            return mine.execute("SELECT count(DISTINCT url_host(u)), count(DISTINCT url_path(u)), min(url_query(u)) FROM t").fetchall()
        return mine.execute("SELECT count(DISTINCT urlmill_parse(u).host), count(DISTINCT urlmill_parse(u).path), min(url_param(u, 'q')) FROM t").fetchall()

    with ThreadPoolExecutor(8) as pool:
        for k, got in enumerate(pool.map(work, range(40))):
            assert got == [(100, 60000, "q=0" if k % 2 else "0")]


def test_a_large_url_leaves_no_memory_behind(con: duckdb.DuckDBPyConnection) -> None:
    assert con.sql("SELECT length(url_path('http://a/' || repeat('x', 30000000)))").fetchall() == [(30_000_001,)]
    assert con.sql("SELECT count(url_path('http://a/' || i)) FROM range(50000) r(i)").fetchall() == [(50_000,)]


CALLS = [*FUNCTIONS, "url_surt(u)", "url_param(u, 'q')", "url_canonical(u, 'dedupe')", "url_canonical(u, f)", "urlmill_parse(u)", "urlmill_parse(u, b)"]


def test_too_much_for_an_array_is_halved(extension: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A vector with more bytes than an array may have is parsed in halves, at any row; what is too large by itself has its error."""
    table = ("CREATE TABLE t AS SELECT i, CASE WHEN i % 7 = 3 THEN NULL WHEN i % 11 = 5 THEN 'no url ' || i WHEN i = 2500 THEN 'http://a/' || repeat('x', 4000) "
             "ELSE 'https://h' || i % 97 || '.example.co.uk/' || i || '?q=' || i || repeat('&a=b', i % 3) END AS u, ['strict', 'surt-ia', NULL][i % 3 + 1] AS f, "
             "CASE WHEN i = 2602 THEN repeat('y', 4000) ELSE 'http://b/' END AS b FROM range(5000) r(i)")  # fmt: skip

    def values(most: str) -> list[tuple[Any, ...]]:
        monkeypatch.setenv("URLMILL_MOST_BYTES", most)
        con = connect(extension, threads="1")
        con.execute(table)
        got = [con.sql(f"SELECT i, {c} FROM t ORDER BY i").fetchall() for c in CALLS]
        assert got == [con.sql(f"SELECT i, {c} FROM t WHERE i >= 0 ORDER BY i").fetchall() for c in CALLS]
        together = con.sql(f"SELECT {', '.join(CALLS)} FROM t ORDER BY i").fetchall()
        assert [list(column) for column in zip(*together, strict=True)] == [[r[1] for r in column] for column in got]
        return together

    got, want = values("3000"), values("536870912")  # in this order: what a thread has parsed as a whole is not parsed again
    parse = CALLS.index("urlmill_parse(u)")
    for i, (a, b) in enumerate(zip(want, got, strict=True)):
        if i == 2500:
            alone = {**dict.fromkeys(a[parse]), "url_error": "record-too-large"}
            assert b == (*("record-too-large" if c == "url_error(u)" else None for c in CALLS[:parse]), alone, alone)
        elif i == 2602:
            assert b[:-1] == a[:-1] and b[-1] == {**dict.fromkeys(a[parse]), "url_error": "record-too-large"}
        else:
            assert a == b, i
    monkeypatch.delenv("URLMILL_MOST_BYTES")
    assert connect(extension).sql("SELECT url_host('http://a/' || repeat('x', 9000))").fetchall() == [("a",)]


FORK = """
import os, sys, duckdb
sys.path.insert(0, sys.argv[1])
from conftest import connect
con = connect(threads="1")
con.execute("SELECT url_host('http://a/x')").fetchall()
child = os.fork()
if child == 0:
    try:
        con.execute("SELECT url_host('http://b/' || i) FROM range(3000) r(i)").fetchall()
        os._exit(1)
    except duckdb.Error as e:
        os._exit(0 if "forked" in str(e) else 2)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert con.execute("SELECT url_host('http://a/x')").fetchall() == [("a",)]
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_is_told(extension: Path) -> None:
    """Go's threads do not survive a fork. A call in the child is an error, and does not wait for them for ever."""
    subprocess.run([sys.executable, "-c", FORK, HERE], check=True, timeout=600)


PSL = """
import sys, duckdb
sys.path.insert(0, sys.argv[1])
from conftest import connect
try:
    print(connect().execute("SELECT url_registrable_domain('http://a.b.example.com/')").fetchone()[0])
except duckdb.Error as e:
    print(e)
"""


def with_psl(path: Path) -> str:
    done = subprocess.run([sys.executable, "-c", PSL, HERE], env={**os.environ, "URLMILL_PSL": str(path)}, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_another_list_of_suffixes(extension: Path, tmp_path: Path) -> None:
    rules = tmp_path / 'a "list".dat'
    rules.write_text("// ===BEGIN ICANN DOMAINS===\ncom\nexample.com\n// ===END ICANN DOMAINS===\n")
    assert with_psl(rules) == "b.example.com"
    assert "URLMILL_PSL" in with_psl(tmp_path / "none.dat") and "none.dat" in with_psl(tmp_path / "none.dat")


def test_files_that_do_not_fit_are_refused(extension: Path, tmp_path: Path) -> None:
    """Another platform, a later API, a broken file, none at all: an error of LOAD with the reason."""
    data = extension.read_bytes()

    def load(name: str, content: bytes) -> str:
        (tmp_path / name).mkdir()
        path = tmp_path / name / "urlmill.duckdb_extension"
        path.write_bytes(content)
        with pytest.raises(duckdb.Error) as e:
            connect(path)
        return str(e.value)

    def field(old: bytes, new: bytes) -> bytes:
        at = data.rindex(old)
        return data[:at] + new + data[at + len(new) :]

    assert "windows_arm64" in load("platform", field(b"linux_amd64\0\0", b"windows_arm64"))
    assert "v9.0.0" in load("api", field(b"v1.2.0", b"v9.0.0"))
    assert "could not be loaded" in load("machine", data[:18] + b"\xf3\0" + data[20:])  # RISC-V, whatever the end of the file says
    assert "could not be loaded" in load("text", b"#!/bin/sh\n" * 400 + data[-600:])
    assert "not a DuckDB extension" in load("footless", data[: len(data) // 2])


def test_needs_an_old_glibc_alone(extension: Path) -> None:
    """The file has all of urlmill in it, and asks for nothing but a C library of 2012."""
    out = subprocess.run(["readelf", "--dynamic", "--dyn-syms", "--wide", extension], capture_output=True, text=True, check=True).stdout
    assert {line.split("[")[1].rstrip("]") for line in out.splitlines() if "(NEEDED)" in line} <= {"libc.so.6", "libpthread.so.0"}
    needs = {tuple(map(int, word.split("@GLIBC_")[1].split()[0].split("."))) for word in out.split("\n") if "@GLIBC_" in word}
    assert needs and max(needs) <= (2, 17)
    assert [line.split()[-1] for line in out.splitlines() if "GLOBAL" in line and " UND " not in line] == ["urlmill_init_c_api"]


def test_memory_does_not_grow(con: duckdb.DuckDBPyConnection) -> None:
    query = ("SELECT count(url_host(u)), count(urlmill_parse(u).path), count(url_params(u)), count(url_canonical(u, 'dedupe')) "
             "FROM (SELECT 'https://h' || i || '.example.co.uk/' || i || '?q=' || i AS u FROM range(400000) r(i))")  # fmt: skip

    def grown() -> int:
        con.execute(query).fetchall()
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    for _ in range(2):
        before = grown()
    for _ in range(int(os.environ.get("URLMILL_ROUNDS", "4"))):
        after = grown()
    assert after - before < 64 << 20


def test_version(con: duckdb.DuckDBPyConnection) -> None:
    abi, psl = con.execute("SELECT urlmill_version()->>'abi', urlmill_version()->>'psl'").fetchone()  # type: ignore[misc]
    assert abi == "1" and psl[:2] == "20"


@pytest.mark.skipif("URLMILL_DUCKDB_ROWS" not in os.environ, reason="make duckdb-10m")
def test_many_as_urlmill_parse(con: duckdb.DuckDBPyConnection, program: str, tmp_path: Path) -> None:
    """All kinds of URLs that the benchmarks have, the dirty ones among them."""
    rows = int(os.environ["URLMILL_DUCKDB_ROWS"])
    kinds = ["web-dirty", "browser-dirty", "unseen"]
    for k, kind in enumerate(kinds):
        n = rows // len(kinds) + (rows % len(kinds) if k == 0 else 0)
        with (tmp_path / "urls.txt").open("wb") as out:
            subprocess.run(["go", "run", "./urls", "-kind", kind, "-n", str(n), "-seed", "23"], cwd=ROOT / "benchmarks", stdout=out, check=True)
        folder = tmp_path / kind
        subprocess.run([program, "parse", "-q", tmp_path / "urls.txt", "-o", folder, "--codec", "lines"], check=True)
        assert compare(con, folder) == n
        print(f"{n} {kind} URLs: no value differs")
        shutil.rmtree(folder)
