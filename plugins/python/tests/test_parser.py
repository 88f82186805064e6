"""Arrow in, Arrow out."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from conftest import ODD

import urlmill
from urlmill import Error, Parser, Promote

LAYOUTS = [
    pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view(),
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
        "seen": pa.array([True, None] * (n // 2)), "view": pa.array(["long enough for a view"] * n, pa.string_view()), "nothing": pa.nulls(n),
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
    with pytest.raises(Error, match='column "id" is of type "l"'):
        Parser(url="id").table(table)
    with pytest.raises(Error, match='column "host" is one of the URL'):
        Parser(url="page").table(table.append_column("host", pa.array(["x"])))
    with pytest.raises(TypeError, match="list of names"):
        Parser(columns="host")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        urlmill.parse(["x"], colums=["host"])


def test_parsers_are_values() -> None:
    a = Parser(columns=["host"], promote=["q"])
    b = pickle.loads(pickle.dumps(a))
    assert a == b and hash(a) == hash(b) and a != Parser()
    assert b.parse(["http://x/?q=1"]).to_pylist() == [{"host": "x"}]


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


def test_psl(tmp_path: Path) -> None:
    rules = tmp_path / "list.dat"
    rules.write_text("// ===BEGIN ICANN DOMAINS===\ncom\nexample.com\n// ===END ICANN DOMAINS===\n")
    got = urlmill.parse(["http://a.b.example.com/"], psl=str(rules), columns=["registrable_domain", "subdomain"])
    assert got.to_pylist() == [{"registrable_domain": "b.example.com", "subdomain": "a"}]
