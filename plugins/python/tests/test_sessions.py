"""The queries of docs/sessions.md, as they stand there, in DuckDB, ClickHouse and Spark, over rows that urlmill has written."""

from __future__ import annotations

import datetime
import json
import random
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, need

CONFIG = """
source:
  file: {paths: [clicks.ndjson]}
  codec:
    ndjson:
      url: /url
      carry:
        - {name: ts, pointer: /ts, type: timestamp}
        - {name: user_id, pointer: /user_id, type: int64}
        - {name: referer, pointer: /referer}
        - {name: user_agent, pointer: /user_agent}
enrich: {acquisition: {}, user_agent: {}}
on_error: keep
sink: {parquet: {path: clicks}}
"""

HUMAN = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
BOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
SITE, GOOGLE = "https://shop.example", "https://www.google.com/"
THANKS = SITE + "/checkout/thanks"

Row = tuple[Any, ...]


def at(text: str) -> float:
    return datetime.datetime.fromisoformat(text + ":00+00:00").timestamp()


# The comments say what the rows are there for; SESSIONS and TOUCHES were found by hand.
KNOWN: list[Row] = [
    (1, "2026-01-01 10:00", SITE + "/", GOOGLE, HUMAN),
    (1, "2026-01-01 10:30", SITE + "/a", SITE + "/", HUMAN),  # 30 minutes, and not more: the session goes on
    (1, "2026-01-01 11:01", SITE + "/b", None, HUMAN),
    (1, "2026-01-03 09:00", SITE + "/?utm_medium=email", None, HUMAN),  # a channel without a source
    (1, "2026-01-03 09:01", SITE + "/c?utm_source=bing&utm_medium=cpc", None, HUMAN),
    (1, "2026-01-04 09:00", SITE + "/", None, HUMAN),
    (1, "2026-01-04 09:05", THANKS, SITE + "/", HUMAN),
    (2, "2026-01-01 10:00", SITE + "/", None, BOT),
    (2, "2026-01-01 10:01", SITE + "/x", SITE + "/", HUMAN),  # nothing says where the visit came from
    (2, "2026-01-01 10:02", "https://shop.example:x/checkout/thanks", None, HUMAN),  # no URL
    (3, "2025-12-01 09:00", SITE + "/", GOOGLE, HUMAN),  # more than 30 days before the conversion
    (3, "2026-01-04 09:00", THANKS, None, HUMAN),
    (4, "2026-01-05 23:50", SITE + "/x", SITE + "/", HUMAN),  # the channel comes later, and so does midnight
    (4, "2026-01-06 00:10", SITE + "/y", GOOGLE, HUMAN),
    (None, "2026-01-01 10:00", THANKS, GOOGLE, HUMAN),
]

SESSIONS: list[Row] = [
    (1, 1, at("2026-01-01 10:00"), at("2026-01-01 10:30"), 2, "Organic Search", "google", "/"),
    (1, 2, at("2026-01-01 11:01"), at("2026-01-01 11:01"), 1, "Direct", "(direct)", "/b"),
    (1, 3, at("2026-01-03 09:00"), at("2026-01-03 09:01"), 2, "Email", None, "/"),
    (1, 4, at("2026-01-04 09:00"), at("2026-01-04 09:05"), 2, "Direct", "(direct)", "/"),
    (2, 1, at("2026-01-01 10:01"), at("2026-01-01 10:01"), 1, "Unassigned", None, "/x"),
    (3, 1, at("2025-12-01 09:00"), at("2025-12-01 09:00"), 1, "Organic Search", "google", "/"),
    (3, 2, at("2026-01-04 09:00"), at("2026-01-04 09:00"), 1, "Direct", "(direct)", "/checkout/thanks"),
    (4, 1, at("2026-01-05 23:50"), at("2026-01-06 00:10"), 2, "Organic Search", "google", "/x"),
]

TOUCHES: list[Row] = [
    (1, at("2026-01-04 09:05"), "Organic Search", "Direct", "Email"),
    (3, at("2026-01-04 09:00"), "Direct", "Direct", "Direct"),
]


def many() -> list[Row]:
    """5,000 rows of 40 users in 60 days, no two at the same time."""
    rng = random.Random(19)
    first = datetime.datetime(2026, 2, 1)
    pages = [SITE + p for p in ("/", "/a", "/b?utm_medium=email", "/c?utm_source=x&utm_medium=cpc", "/d?gclid=1")] + [THANKS, "https://a:x/"]
    referrers = [None, SITE + "/", SITE + "/a", GOOGLE, "https://chatgpt.com/", "https://news.example/"]
    minutes = rng.sample([60 * 6 * day + minute for day in range(60) for minute in range(360)], 5000)
    return [
        (rng.choice([*range(40), None]), str(first + datetime.timedelta(hours=m // 360 * 24, minutes=m % 360))[:16], rng.choice(pages), rng.choice(referrers), rng.choice([HUMAN] * 9 + [BOT]))
        for m in minutes
    ]  # fmt: skip


@pytest.fixture(scope="session")
def clicks(program: str, tmp_path_factory: pytest.TempPathFactory) -> Callable[[list[Row]], str]:
    """Returns what has urlmill write rows, and returns the pattern of the files."""

    def write(rows: list[Row]) -> str:
        folder = tmp_path_factory.mktemp("sessions")
        names = ("user_id", "ts", "url", "referer", "user_agent")
        records = [dict(zip(names, (user, when.replace(" ", "T") + ":00Z", *rest))) for user, when, *rest in rows]
        (folder / "clicks.ndjson").write_text("".join(json.dumps(r) + "\n" for r in records))
        (folder / "clicks.yaml").write_text(CONFIG)
        subprocess.run([program, "run", "clicks.yaml"], cwd=folder, check=True, capture_output=True)
        return str(folder / "clicks" / "*.parquet")

    return write


def statements(engine: str, files: str) -> list[str]:
    """Returns the statements of the page for an engine, which are those for all engines, too."""
    text = (ROOT / "docs" / "sessions.md").read_text()
    found = re.findall(r"(?:<!-- (\w+) -->\n)?```sql\n(.*?)```", text, re.DOTALL)
    return [sql.replace("clicks/*.parquet", files) for of, sql in found if of in ("", engine)]


def asked(engine: str, files: str, query: Callable[[str], list[Row]]) -> tuple[list[Row], list[Row]]:
    """Returns sessions and touches as an engine finds them, times as seconds since 1970."""
    *views, touches = statements(engine, files)
    assert len(views) == 2
    for view in views:
        query(view)
    columns = "user_id, session_number, began, ended, pages, channel, source, landing_page"
    return tuple(  # type: ignore[return-value]
        [tuple(v.timestamp() if isinstance(v, datetime.datetime) else v for v in row) for row in query(sql)]
        for sql in (f"SELECT {columns} FROM sessions ORDER BY user_id, session_number", touches)
    )


def in_duckdb(files: str) -> tuple[list[Row], list[Row]]:
    con = need("duckdb", "pip install duckdb").connect()
    con.execute("SET TimeZone = 'UTC'")

    def query(sql: str) -> list[Row]:
        result = con.sql(sql)
        return [] if result is None else [tuple(r.values()) for r in result.to_arrow_table().to_pylist()]

    return asked("duckdb", files, query)


def in_clickhouse(files: str, folder: Path) -> tuple[list[Row], list[Row]]:
    need("chdb", "make plugins installs it")
    from chdb import session

    db = session.Session(str(folder))

    def query(sql: str) -> list[Row]:
        lines = str(db.query(sql, "JSONCompactEachRow")).splitlines()
        return [tuple(at(v[:16]) if re.match(r"\d{4}-\d\d-\d\d ", str(v)) else v for v in json.loads(line)) for line in lines]

    try:
        db.query("CREATE DATABASE mill ENGINE = Atomic")
        db.query("USE mill")
        return asked("clickhouse", files, query)
    finally:
        db.close()


def in_spark(files: str, spark: Any) -> tuple[list[Row], list[Row]]:
    try:
        return asked("spark", files, lambda sql: [tuple(r) for r in spark.sql(sql).collect()])
    finally:
        for view in ("sessions", "clicks"):
            spark.sql(f"DROP VIEW IF EXISTS {view}")


def test_sessions_in_duckdb(clicks: Callable[[list[Row]], str]) -> None:
    assert in_duckdb(clicks(KNOWN)) == (SESSIONS, TOUCHES)


def test_sessions_in_clickhouse(clicks: Callable[[list[Row]], str], tmp_path: Path) -> None:
    assert in_clickhouse(clicks(KNOWN), tmp_path) == (SESSIONS, TOUCHES)


def test_sessions_in_spark(clicks: Callable[[list[Row]], str], spark: Any) -> None:
    assert in_spark(clicks(KNOWN), spark) == (SESSIONS, TOUCHES)


def test_all_say_the_same_in_spark(clicks: Callable[[list[Row]], str], tmp_path: Path, spark: Any) -> None:
    files = clicks(many())
    sessions, touches = in_duckdb(files)
    assert len(sessions) > 1000 and len(touches) > 300
    assert len({row[5] for row in sessions}) == 8 and any(row[6] is None and row[5] == "Email" for row in sessions)
    assert in_clickhouse(files, tmp_path) == (sessions, touches)
    assert in_spark(files, spark) == (sessions, touches)
