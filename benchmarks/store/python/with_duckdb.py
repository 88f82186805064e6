"""DuckDB's approximation of the job: with_duckdb.py FORMAT ENDPOINT BUCKET IN OUT DIR. Prints the outcome, a line of JSON.

The extension httpfs comes from the package duckdb-extension-httpfs. Without it, DuckDB reads the files of the bucket in the folder DIR of the
server, and writes there as well, which favours it.
"""

import glob
import importlib.util
import json
import os
import sys

import duckdb

from common import Meter

form, endpoint, bucket, source, out, folder = sys.argv[1:]


def connect():
    db = duckdb.connect(config={"threads": 1, "autoinstall_known_extensions": False})
    db.execute("SET preserve_insertion_order = false")
    spec = importlib.util.find_spec("duckdb_extension_httpfs")
    found = spec and glob.glob(os.path.join(os.path.dirname(spec.origin), "**", "httpfs.duckdb_extension"), recursive=True)
    if not found:
        return db, folder, "local files"
    db.execute(f"LOAD '{found[0]}'")
    key, secret = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
    db.execute(
        f"""CREATE SECRET (TYPE s3, KEY_ID '{key}', SECRET '{secret}', REGION '{os.environ['AWS_REGION']}',
            ENDPOINT '{endpoint.split('://')[1]}', URL_STYLE 'path', USE_SSL false)"""
    )
    return db, "s3:/", "httpfs"


def structure(names, types):
    return "{" + ", ".join(f"'{name}': '{types.get(name, 'VARCHAR')}'" for name in names.split()) + "}"


db, root, how = connect()
if form == "alb":
    names = structure(
        """type time elb client target request_processing_time target_processing_time response_processing_time elb_status_code target_status_code
        received_bytes sent_bytes request user_agent ssl_cipher ssl_protocol target_group_arn trace_id domain_name chosen_cert_arn
        matched_rule_priority request_creation_time actions_executed redirect_url error_reason target_list target_status_list classification
        classification_reason conn_trace_id""",
        {"time": "TIMESTAMP", "elb_status_code": "BIGINT", "sent_bytes": "BIGINT"},
    )
    options = """delim = ' ', quote = '"', escape = '"', header = false"""
    columns = """time, left(client, length(client) - strpos(reverse(client), ':')) AS remote_addr, split_part(request, ' ', 1) AS method,
        elb_status_code AS status, sent_bytes AS bytes, user_agent, split_part(request, ' ', 2) AS url"""
else:
    names = structure(
        """date time x_edge_location sc_bytes c_ip cs_method cs_host cs_uri_stem sc_status cs_referer cs_user_agent cs_uri_query cs_cookie
        x_edge_result_type x_edge_request_id x_host_header cs_protocol cs_bytes time_taken x_forwarded_for ssl_protocol ssl_cipher
        x_edge_response_result_type cs_protocol_version fle_status fle_encrypted_fields c_port time_to_first_byte
        x_edge_detailed_result_type sc_content_type sc_content_len sc_range_start sc_range_end""",
        {"date": "DATE", "time": "TIME", "sc_bytes": "BIGINT", "sc_status": "BIGINT"},
    )
    options = r"delim = '\t', quote = '', escape = '', header = false, skip = 2"
    columns = """date + time AS time, c_ip AS remote_addr, cs_method AS method, sc_status AS status, sc_bytes AS bytes,
        url_decode(url_decode(cs_user_agent)) AS user_agent,
        cs_protocol || '://' || x_host_header || cs_uri_stem || CASE cs_uri_query WHEN '-' THEN '' ELSE '?' || cs_uri_query END AS url"""
# One expression takes a URL apart. The registrable domain is left out: DuckDB has no function for it.
pattern = r"^([A-Za-z][A-Za-z0-9+.-]*)://(?:[^/?#@]*@)?([^/?#:]*)(?::[0-9]{0,5})?([^?#]*)(?:\?([^#]*))?"
if root == folder:
    os.makedirs(os.path.join(folder, bucket, out), exist_ok=True)
meter = Meter()
db.execute(
    f"""COPY (
        SELECT * EXCLUDE (p), lower(p.scheme) AS scheme, lower(p.host) AS host, p.path AS path, p.query AS query, string_split(p.query, '&') AS params
        FROM (SELECT *, regexp_extract(url, '{pattern}', ['scheme', 'host', 'path', 'query']) AS p FROM (
            SELECT {columns} FROM read_csv('{root}/{bucket}/{source}/**/*.gz', columns = {names}, {options}, auto_detect = false, compression = 'gzip')
        ))
    ) TO '{root}/{bucket}/{out}/part.parquet' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)"""
)
print(json.dumps(meter.outcome(f"DuckDB {duckdb.__version__}, {how}")))
