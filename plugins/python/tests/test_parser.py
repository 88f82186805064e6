"""Arrow in, Arrow out."""

from __future__ import annotations

import inspect
import json
import pickle
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from conftest import ODD, ROOT

import urlmill
from urlmill import Canonical, Error, Parser, Promote, _once, _parser

VIEWS = [getattr(pa, name)() for name in ("string_view", "binary_view") if hasattr(pa, name)]  # from pyarrow 16 on
LAYOUTS = [
    pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), *VIEWS,
    pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.uint32(), pa.large_string()),
]  # fmt: skip


def array(urls: list[str | None], of: pa.DataType) -> pa.Array:
    encoded = urls if "binary" not in str(of) else [None if u is None else u.encode() for u in urls]
    if pa.types.is_dictionary(of):
        return pa.array(urls, of.value_type).dictionary_encode().cast(of)
    return pa.array(encoded, of)


def test_gives_what_the_command_gives(command: Any) -> None:
    """Every column, as the README of the package promises."""
    urls = [u for u in ODD if u is not None]
    theirs = command(urls)
    ours = urlmill.parse(pa.array(urls)).to_pylist()
    assert list(ours[0]) == list(theirs[0])
    for a, b in zip(ours, theirs, strict=True):
        assert {**a, "raw": None} == {**b, "raw": None}


@pytest.mark.parametrize("of", LAYOUTS, ids=str)
def test_takes_every_layout_of_text(of: pa.DataType) -> None:
    want = urlmill.parse(pa.array(ODD))
    given = array(ODD, of)
    got = urlmill.parse(given)
    got.validate(full=True)
    assert got.equals(want)
    assert urlmill.parse(given.slice(3, 7)).equals(want.slice(3, 7))
    assert len(urlmill.parse(given.slice(3, 0))) == 0


def test_chunks_give_chunks() -> None:
    chunks = pa.chunked_array([ODD[:5], [], ODD[5:]], pa.string())
    got = urlmill.parse(chunks, columns=["host", "url_error"])
    assert isinstance(got, pa.ChunkedArray) and got.combine_chunks().equals(urlmill.parse(pa.array(ODD), columns=["host", "url_error"]))
    none = urlmill.parse(pa.chunked_array([], pa.string()), columns=["host"])
    assert none.num_chunks == 0 and none.type == Parser(columns=["host"]).type == pa.struct([("host", pa.string())])


def test_a_null_is_told_apart() -> None:
    assert urlmill.parse([None], columns=["href", "url_error"]).to_pylist() == [{"href": None, "url_error": "record-field-missing"}]


def test_bases() -> None:
    got = urlmill.parse(["b", "c", "http://x/"], ["http://a/a/", None, "http://a/"], base_url="http://d/", columns=["href"])
    assert [r["href"] for r in got.to_pylist()] == ["http://a/a/b", "http://d/c", "http://x/"]


def test_options() -> None:
    got = urlmill.parse(
        ["https://www.example.com/a?utm_source=mail&q=1&q=2"], profile="ecs", exclude=["url"], rename={"host": "h"},
        promote=["utm_source", Promote("q", name="all_q", take="all")], canonical="dedupe", tracking="separate", params="map",
    ).to_pylist()[0]  # fmt: skip
    assert got["h"] == "www.example.com" and got["all_q"] == ["1", "2"] and got["utm_source"] == "mail"
    assert "q=1" in got["canonical_url"] and "utm_source" not in got["canonical_url"]
    assert len(got["url_key"]) == 16 and "url.original" not in got


def test_columns_go_along_whatever_they_are() -> None:
    n = len(ODD)
    table = pa.table({
        "id": pa.array(range(n)), "page": pa.array(ODD), "when": pa.array([0] * n, pa.timestamp("ns", "Europe/Berlin")),
        "tags": pa.array([["a"], None] * (n // 2)), "tree": pa.array([{"x": {"y": [1, None]}}] * n),
        "kind": pa.array(["k", "l"] * (n // 2)).dictionary_encode(), "amount": pa.array([None] * n, pa.decimal128(20, 3)),
        "seen": pa.array([True, None] * (n // 2)), "view": pa.array(["long enough for a view"] * n, (VIEWS or LAYOUTS)[0]), "nothing": pa.nulls(n),
    })  # fmt: skip
    others = [c for c in table.column_names if c != "page"]
    parser = Parser(url="page", columns=["host"])
    got = parser.table(table)
    got.validate(full=True)
    assert got.column_names == ["host", *others] and got.select(others).equals(table.select(others))
    assert parser.schema(table.schema) == got.schema
    part = parser.table(table.slice(3, 9))
    assert part.select(others).equals(table.select(others).slice(3, 9)) and part["host"].equals(got["host"].slice(3, 9))
    few = Parser(url="page", columns=["host"], carry=["tree", "id"], batch_rows=4).table(table)
    assert few.column_names == ["host", "tree", "id"] and few["tree"].num_chunks == 4 and few["tree"].combine_chunks().equals(table["tree"].combine_chunks())
    assert Parser(url="page", columns=["host"], carry=[]).table(table).column_names == ["host"]


def test_tables_of_other_columns_in_turn() -> None:
    """What is known of the columns of a table is not taken for those of the next one."""
    urls, numbers, names = pa.array(["http://a/", "http://b/"]), pa.array([1, 2]), pa.array(["x", "y"])
    encoded, far = urls.dictionary_encode(), pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int64()), pa.array(["http://b/", "http://a/"]))
    tables = [
        pa.table({"page": urls, "n": numbers}), pa.table({"n": numbers, "page": urls}), pa.table({"page": urls, "m": numbers}),
        pa.table({"page": urls, "n": names}), pa.table({"page": urls.cast(pa.large_string()), "n": numbers}),
        pa.table({"page": encoded, "n": numbers}), pa.table({"page": far, "n": numbers}), pa.table({"page": urls, "n": names.dictionary_encode()}),
        pa.table({"page": urls}), pa.table({"page": urls, "n": numbers, "nn": names}),
    ]  # fmt: skip
    parser = Parser(url="page", columns=["host"])
    for table in [t for before in tables for after in tables for t in (before, after)]:
        got, others = parser.table(table), [c for c in table.column_names if c != "page"]
        got.validate(full=True)
        assert got["host"].to_pylist() == ["a", "b"] and got.column_names == ["host", *others] and got.select(others).equals(table.select(others))
    with pytest.raises(Exception, match="page"):
        parser.table(pa.table({"pages": urls, "n": numbers}))
    with pytest.raises(Exception, match="page"):
        parser.table(pa.table({"page": numbers, "n": numbers}))


def test_a_column_outlives_the_rest() -> None:
    """The memory of the library is kept for as long as somebody refers to any of it."""
    host = urlmill.parse(pa.array(ODD * 1000)).field("host")
    want = host.to_pylist()
    for i in range(5):
        urlmill.parse(pa.array([f"https://other{i}.example/"] * len(want)))
    assert host.to_pylist() == want


def test_streams_are_lazy() -> None:
    """A batch is taken when it is asked for, and an error in the middle keeps its text."""
    taken = []

    def batches() -> Iterator[pa.RecordBatch]:
        for i in range(3):
            if i == 2:
                raise RuntimeError("the disk is on fire")
            taken.append(i)
            yield pa.record_batch([pa.array([f"http://h{i}/"])], names=["url"])

    reader = Parser(columns=["host"]).stream(pa.RecordBatchReader.from_batches(pa.schema([("url", pa.string())]), batches()))
    assert taken == []
    assert reader.read_next_batch().to_pylist() == [{"host": "h0"}] and taken == [0]
    assert reader.read_next_batch().num_rows == 1
    with pytest.raises(Exception, match="the disk is on fire"):
        reader.read_next_batch()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"columns": ["hots"]}, "hots"),
        ({"columns": []}, "name at least one"),
        ({"profile": "x"}, "commoncrawl"),
        ({"psl": "/nowhere"}, "psl"),
        ({"params": "tree"}, "list, map"),
    ],
)
def test_wrong_options_say_what_is_wrong(options: dict[str, Any], says: str) -> None:
    with pytest.raises(Error, match=says):
        urlmill.parse(["http://a/"], **options)


def test_input_that_does_not_fit_says_so() -> None:
    table = pa.table({"id": [1], "page": ["http://a/"]})
    with pytest.raises(Error, match="it has id, page"):
        Parser(url="nope").table(table)
    with pytest.raises(Error, match='column "id" is of type int64 .*URLs are utf8'):
        Parser(url="id").table(table)
    with pytest.raises(Error, match='column "host" is one of the URL'):
        Parser(url="page").table(table.append_column("host", pa.array(["x"])))
    with pytest.raises(TypeError):
        urlmill.parse(["x"], colums=["host"])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"columns": "host"}, "list of names"),
        ({"columns": {"host", "path"}}, "no order"),
        ({"carry": [7]}, "carry is to be a text; 7"),
        ({"url": 7}, "url is to be a text"),
        ({"tracking": True}, "tracking is to be a text; True"),
        ({"psl": 7}, "PathLike"),
        ({"rename": "host"}, "rename is to be a mapping"),
        ({"promote": "utm_source"}, "promote is one parameter"),
        ({"promote": [{"param": "q"}]}, "urlmill.Promote"),
        ({"canonical": True}, "urlmill.Canonical"),
        ({"batch_rows": 1.5}, "number of rows"),
    ],
)
def test_options_of_a_wrong_type_say_what_to_give(options: dict[str, Any], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        Parser(**options)


def test_a_text_is_no_list_of_names() -> None:
    with pytest.raises(TypeError, match="also is a text"):
        Promote("utm_source", also="source")
    with pytest.raises(TypeError, match="with_steps is a text"):
        Canonical(with_steps="sort_query")
    with pytest.raises(TypeError, match="param is to be a text"):
        Promote(7)  # type: ignore[arg-type]


class Capsules:
    """An array of another library: one protocol of Arrow, and nothing else."""

    def __init__(self, name: str, of: Any) -> None:
        setattr(type(self), name, lambda self, requested_schema=None: getattr(of, name)(requested_schema))


def test_takes_arrays_of_other_libraries() -> None:
    want = urlmill.parse(pa.array(ODD), columns=["host"])
    one = type("Array", (Capsules,), {})("__arrow_c_array__", pa.array(ODD))
    assert urlmill.parse(one, columns=["host"]).equals(want)
    table = pa.table({"url": ODD})
    batch = type("Batch", (Capsules,), {})("__arrow_c_array__", table.to_batches()[0])
    assert Parser(columns=["host"]).table(batch)["host"].combine_chunks().equals(want.field("host"))
    if not hasattr(pa.ChunkedArray, "__arrow_c_stream__"):
        pytest.skip("this pyarrow has no streams of arrays")
    many = type("Arrays", (Capsules,), {})("__arrow_c_stream__", pa.chunked_array([ODD[:3], ODD[3:]]))
    got = urlmill.parse(many, columns=["host"])
    assert isinstance(got, pa.ChunkedArray) and got.combine_chunks().equals(want)


@pytest.mark.parametrize(
    ("urls", "hosts"),
    [
        (["http://a/", b"http://b/", None], ["a", "b", None]),
        (["http://a/", float("nan")], ["a", None]),
        ([float("nan")], [None]),
        ([], []),
        (iter(["http://a/", "http://b/"]), ["a", "b"]),
        ([b"http://a/\xff"], ["a"]),
        (pa.nulls(2), [None, None]),
        (pa.chunked_array([["http://a/"], [], ["http://b/"]]).slice(1), ["b"]),
    ],
    ids=str,
)
def test_takes_what_python_has(urls: Any, hosts: list[str | None]) -> None:
    assert urlmill.parse(urls, columns=["host"]).to_pylist() == [{"host": h} for h in hosts]


def test_texts_are_what_browsers_make_of_them() -> None:
    """An unpaired surrogate is U+FFFD, a pair is a character, and so is each byte that is not UTF-8."""
    for urls, paths in [(["http://a/\ud800", "http://a/\ud83d\ude00"], ["/%EF%BF%BD", "/%F0%9F%98%80"]), ([b"http://a/\xff"], ["/%EF%BF%BD"])]:
        assert urlmill.parse(urls, columns=["path"]).field("path").to_pylist() == paths


@pytest.mark.parametrize("bad", ["http://a/", b"http://a/", None, pa.scalar("http://a/"), {"http://a/"}, {"url": []}, pa.table({"url": ODD}), 7], ids=str)
def test_what_is_no_column_is_refused(bad: Any) -> None:
    """A text is not taken for the list of its letters, nor a table for a list of its columns."""
    with pytest.raises(TypeError, match="^urls is "):
        urlmill.parse(bad)
    if bad is not None:
        with pytest.raises(TypeError, match="^bases is "):
            urlmill.parse(["x"], bad)


def test_arrays_that_are_no_text_are_refused_by_name() -> None:
    for bad, says in [
        (pa.array([1]), "urls of type int64"),
        ([1], "urls of type int64"),
        (pa.array([b"http://a/"], pa.binary(9)), "fixed_size_binary"),
        (pa.array([1]).dictionary_encode(), "dictionary<values=int64"),
        (pa.RunEndEncodedArray.from_arrays([2], ["http://a/"]), "run_end_decode"),
    ]:
        with pytest.raises(Error, match=says):
            urlmill.parse(bad)


@pytest.mark.parametrize("bad", [None, ODD, pa.array(ODD), pa.chunked_array([ODD]), "http://a/", pa.table({"url": ODD}).to_batches()], ids=str)
def test_what_is_no_table_is_refused(bad: Any) -> None:
    with pytest.raises(TypeError, match="Parser.parse is for columns of URLs|__arrow_c_stream__"):
        Parser(columns=["host"]).table(bad)


def test_takes_datasets(tmp_path: Path) -> None:
    dataset, parquet = pytest.importorskip("pyarrow.dataset"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"id": range(len(ODD)), "url": ODD}), tmp_path / "a.parquet")
    files, parser = dataset.dataset(tmp_path), Parser(columns=["host"])
    assert parser.table(files).to_pylist() == parser.table(files.scanner()).to_pylist() == parser.table(files.to_table()).to_pylist()


def test_bases_beside_urls() -> None:
    """Chunks may be cut elsewhere than those of the URLs; a base that nobody looks for is not passed over in silence."""
    urls, bases = ["b", "c", "d"], ["http://a/", None, "http://a/x/"]
    want = ["http://a/b", None, "http://a/x/d"]
    for u in (urls, pa.array(urls), pa.chunked_array([urls[:1], urls[1:]])):
        for b in (bases, pa.array(bases), pa.chunked_array([bases[:2], bases[2:]])):
            got = urlmill.parse(u, b, columns=["href"])
            assert [r["href"] for r in got.to_pylist()] == want and isinstance(got, pa.ChunkedArray) == isinstance(u, pa.ChunkedArray)
    with pytest.raises(Error, match="3 URLs and 2 bases"):
        urlmill.parse(urls, bases[:2])
    with pytest.raises(Error, match="base names the column 'page' of a table"):
        urlmill.parse(urls, base="page")
    parser = Parser(base="page")
    assert "base_url" in [f.name for f in parser.type] and parser.parse(urls, bases).type == parser.type


def test_what_is_too_large_for_an_array(monkeypatch: pytest.MonkeyPatch) -> None:
    def concat(arrays: list[pa.Array]) -> pa.Array:
        raise pa.ArrowInvalid("offset overflow while concatenating arrays")

    monkeypatch.setattr(pa, "concat_arrays", concat)
    monkeypatch.setattr(_once, "parse", lambda *_: None)  # as for more than 512 MiB of URLs
    with pytest.raises(Error, match="give chunks"):
        urlmill.parse(ODD, columns=["host"], batch_rows=2)
    assert len(urlmill.parse(pa.chunked_array([ODD]), columns=["host"], batch_rows=2)) == len(ODD)


@pytest.mark.parametrize("options", [{}, {"columns": ["host", "path", "url_error"]}, {"columns": ["url", "raw"]}, {"profile": "ecs", "promote": ["q"]}], ids=str)
def test_few_rows_are_what_they_are_among_many(monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]) -> None:
    """Arrays go without a stream, which is to make no difference, however few rows they have."""
    urls = pa.array(ODD * 200)
    with monkeypatch.context() as m:
        m.setattr(_once, "is_plain", lambda of: False)
        streamed = Parser(**options).parse(urls)
    assert Parser(**options).parse(urls).equals(streamed)
    for rows in [*range(40), 63, 64, 65, 1000, 2048]:
        for first in (0, 5):
            got = urlmill.parse(urls.slice(first, rows), **options)
            got.validate(full=True)
            assert got.type == streamed.type and got.equals(streamed.slice(first, rows))
    for none in (pa.nulls(3), pa.array([None] * 3, pa.string()), pa.array([None] * 3, pa.large_binary())):
        assert urlmill.parse(none, **options).to_pylist() == [urlmill.parse([None], **options).to_pylist()[0]] * 3


def test_chunks_and_bases_without_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [
        (pa.chunked_array([ODD[:3], [], ODD[3:]], pa.string()), None), (pa.array(ODD), pa.array(["http://a/"] * len(ODD))),
        (pa.chunked_array([ODD[:3], ODD[3:]]), pa.chunked_array([["http://a/"] * 3, [None] * (len(ODD) - 3)])),
        (pa.chunked_array([ODD[:3], ODD[3:]]), pa.array(["http://a/"] * len(ODD), pa.large_string())),
    ]  # fmt: skip
    for urls, bases in cases:
        got = urlmill.parse(urls, bases, columns=["url", "href", "url_error"])
        with monkeypatch.context() as m:
            m.setattr(_once, "is_plain", lambda of: False)
            want = urlmill.parse(urls, bases, columns=["url", "href", "url_error"])
        assert type(got) is type(want) and got.type == want.type and got.to_pylist() == want.to_pylist()
    in_pieces = urlmill.parse(pa.chunked_array([ODD]), columns=["host"], batch_rows=5)
    assert [len(c) for c in in_pieces.chunks] == [5, 5, 5, 1]


def test_parsers_are_made_once() -> None:
    made = [_parser.parser(columns=["host"], rename={"host": "h"}, promote=["q", Promote("r")], batch_rows=1) for _ in range(2)]
    assert made[0] is made[1] and made[0] == Parser(columns=["host"], rename={"host": "h"}, promote=["q", Promote("r")], batch_rows=1)
    assert _parser.parser(columns=["host"]) != _parser.parser(columns=["path"]) != _parser.parser(exclude=["path"])
    names = ["host"]
    first = _parser.parser(columns=names)
    names.append("path")
    assert _parser.parser(columns=names).type != first.type  # who changes a list gives other options
    assert _parser.parser(columns=iter(["host"])) == first
    with pytest.raises(TypeError):
        _parser.parser(batch_rows=1.0)
    with pytest.raises(TypeError):
        _parser.parser(columns=[["host"]])


def test_parsers_are_values() -> None:
    a = Parser(columns=["host"], promote=["q"])
    b = pickle.loads(pickle.dumps(a))
    assert a == b and hash(a) == hash(b) and a != Parser()
    assert b.parse(["http://x/?q=1"]).to_pylist() == [{"host": "x", "q": "1"}]


def test_map_batches() -> None:
    mapped = urlmill.map_batches("page", columns=["path"])
    given = [pa.record_batch([pa.array([i]), pa.array([f"http://a/{i}"])], names=["id", "page"]) for i in range(3)]
    assert [b.to_pylist()[0] for b in mapped(iter(given))] == [{"path": f"/{i}", "id": i} for i in range(3)]
    assert list(mapped(iter([]))) == []


def test_threads() -> None:
    """Many threads use one parser, and calls do not hold the GIL for each other's results to get mixed up."""
    urls = [pa.array([f"https://host{k}.example/{i}" for i in range(2000)]) for k in range(16)]
    with ThreadPoolExecutor(8) as pool:
        for k, got in enumerate(pool.map(lambda a: urlmill.parse(a, columns=["host", "path"]), urls * 5)):
            assert got.field("host").unique().to_pylist() == [f"host{k % 16}.example"] and got.field("path")[1999].as_py() == "/1999"


def test_version() -> None:
    assert urlmill.version()["abi"] == 1
    assert urlmill.version()["unicode"] in ("15.0.0", "17.0.0")  # by Go 1.26, by 1.27


def test_psl(tmp_path: Path) -> None:
    rules = tmp_path / "list.dat"
    rules.write_text("// ===BEGIN ICANN DOMAINS===\ncom\nexample.com\n// ===END ICANN DOMAINS===\n")
    got = urlmill.parse(["http://a.b.example.com/"], psl=rules, columns=["registrable_domain", "subdomain"])
    assert got.to_pylist() == [{"registrable_domain": "b.example.com", "subdomain": "a"}]


def test_help_lists_options_and_columns() -> None:
    """help(urlmill.Parser) is where the pages send their readers."""
    text = inspect.getdoc(Parser) or ""
    for option in inspect.signature(Parser).parameters:
        assert re.search(rf"^{option}: ", text, re.MULTILINE), option
    with pytest.raises(Error) as e:
        Parser(columns=["?"]).schema(pa.schema([("url", pa.string())]))
    there = re.findall(r"\w+", str(e.value).split("there are ")[1])
    usual = [f.name for f in Parser().type]
    listed = re.findall(r"\w+", text.split("up to raw: ")[1].split(".\n")[0])
    assert listed == there and listed[: len(usual)] == usual and usual[-1] == "raw"


def test_the_cases_of_all_hosts() -> None:
    """Those that DuckDB's functions are tested with, too."""
    cases = [json.loads(line) for line in (ROOT / "plugins" / "testdata" / "functions.ndjson").read_text("utf-8").splitlines()]
    cases = [c for c in cases if c["url"] is not None]
    names = [f.name for f in Parser(exclude=["url", "raw"]).type]
    got = urlmill.parse([c["url"] for c in cases], [c.get("base") for c in cases], columns=names)
    for case, row in zip(cases, got.to_pylist(), strict=True):
        assert row == {name: case.get(name) for name in names}, case["url"]
    for form in ("strict", "dedupe", "surt-ia", "surt-cc"):
        plain = [c for c in cases if "base" not in c]
        canonical = urlmill.parse([c["url"] for c in plain], columns=["canonical_url"], canonical=Canonical(form=form))
        assert [r["canonical_url"] for r in canonical.to_pylist()] == [(c.get("canonical") or {}).get(form) for c in plain]
