"""Prints the suffixes of two labels that the functions of ClickHouse know, one a line, sorted by bytes: suffixes.py FILE, which it
uses for what could be one."""

import mmap
import re
import sys

import chdb
import chdb._chdb as engine

# What could be one is a text of the program. Asked about a host with two labels before it, the function gives the second
# label of the four when the last two are a suffix.
with open(engine.__file__, "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as program:
    texts = set(re.findall(rb"(?<=\0)[^\0-\x20/\x7f.:?#@]{1,63}\.[^\0-\x20/\x7f.:?#@]{1,63}(?=\0)", program))
with open(sys.argv[1], "wb") as f:
    f.write(b"\n".join(sorted(texts)) + b"\n")
sql = f"SELECT suffix FROM file('{sys.argv[1]}', 'LineAsString', 'suffix String') WHERE isValidUTF8(suffix) AND firstSignificantSubdomain('http://a.zq.' || suffix || '/') = 'zq' ORDER BY suffix"
sys.stdout.write(str(chdb.query(sql, "TSVRaw")))
