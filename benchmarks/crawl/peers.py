"""What others take to read an archive, to index it, and to make keys, each in a process of its own; and in what they differ."""

import json
import os
import resource
import subprocess
import sys
import time


def warcio(path):
    from warcio.archiveiterator import ArchiveIterator

    n = 0
    with open(path, "rb") as f:
        for record in ArchiveIterator(f):
            if record.rec_type == "response":
                record.rec_headers.get_header("WARC-Target-URI")
                if record.http_headers is not None:  # it is for HTTPS:// and the like, in upper case
                    record.http_headers.get_statuscode()
                n += 1
    return n


def fastwarc(path):
    from fastwarc import ArchiveIterator, WarcRecordType

    n = 0
    with open(path, "rb") as f:
        for record in ArchiveIterator(f, record_types=WarcRecordType.response, parse_http=True):
            record.headers["WARC-Target-URI"], record.http_headers.status_code
            n += 1
    return n


def cdxj_indexer(path, out):
    from cdxj_indexer.main import main

    main(["-o", out, path])
    with open(out) as f:
        return sum(1 for _ in f)


def keys(make, urls, out):
    with open(urls) as f, open(out, "w") as to:
        n = 0
        for line in f:
            row = json.loads(line)
            if row["url_error"] is None:
                to.write(make(row["url"]) + "\n")
                n += 1
    return n


def surt(urls, out):
    import surt

    return keys(surt.surt, urls, out)


def urlcanon(urls, out):
    import urlcanon

    return keys(lambda u: str(urlcanon.semantic_precise(u).ssurt(), "utf-8", "replace"), urls, out)


def measured(name, *args):
    began = time.time()
    records, error = 0, ""
    try:
        records = globals()[name](*args)
    except Exception as e:  # what a peer makes of a damaged archive is a result
        error = f"{type(e).__name__}: {e}"
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({
        "name": name, "cpu_s": usage.ru_utime + usage.ru_stime, "seconds": time.time() - began,
        "peak_memory_bytes": usage.ru_maxrss << 10, "records": records, "error": error,
    }))


def lines(path):
    with open(path) as f:
        return [line.rstrip("\n") for line in f]


def main(archive, cdxj, rows):
    base = os.path.dirname(rows)
    theirs = base + "/theirs.cdxj"
    work = [
        ("warcio", archive), ("fastwarc", archive), ("cdxj_indexer", archive, theirs),
        ("surt", rows, base + "/surt"), ("urlcanon", rows, base + "/urlcanon"),
    ]
    for args in work:
        subprocess.run([sys.executable, __file__, "--", *args], check=True)
    fields = ("url", "mime", "status", "digest", "length", "offset", "filename")

    def captures(path):
        found = {}
        for line in lines(path):
            key, when, text = line.split(" ", 2)
            o = json.loads(text)
            o["digest"] = o.get("digest", "").removeprefix("sha1:")
            found[o["offset"]] = (key, when, *(o.get(f) for f in fields))
        return found

    a, b = captures(cdxj), captures(theirs)
    differ = [(a[o], b[o]) for o in a.keys() & b.keys() if a[o][:2] + a[o][3:] != b[o][:2] + b[o][3:]]
    print(json.dumps({"keys": "cdxj_indexer, by offset, but for how the URL is written", "ours": len(a), "theirs": len(b), "differ": len(differ), "such_as": differ[:1]}))
    ours = [(r["url"], r["canonical_url"]) for r in map(json.loads, lines(rows)) if r["url_error"] is None]
    for name in ("surt", "urlcanon"):
        peer = lines(base + "/" + name)
        differ = [(u, k, p) for (u, k), p in zip(ours, peer) if k != p]
        distinct = {"ours_distinct": len({k for _, k in ours}), "theirs_distinct": len(set(peer))}
        print(json.dumps({"keys": name, "ours": len(ours), "theirs": len(peer), "differ": len(differ), **distinct, "such_as": differ[:1]}))


if __name__ == "__main__":
    if sys.argv[1] == "--":
        measured(*sys.argv[2:])
    else:
        main(*sys.argv[1:])
