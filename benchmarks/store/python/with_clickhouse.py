"""ClickHouse's approximation of the job: with_clickhouse.py FORMAT ENDPOINT BUCKET IN OUT DIR. Prints the outcome, a line of JSON."""

import json
import os
import sys

import chdb

from common import Meter

form, endpoint, bucket, source, out, _ = sys.argv[1:]
key, secret = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]

if form == "alb":
    # ClickHouse's CSV refuses spaces between values; this is the same with another name.
    names = """type time elb client target request_processing_time target_processing_time response_processing_time elb_status_code
        target_status_code received_bytes sent_bytes request user_agent""".split()
    types = {"elb_status_code": "Int64", "sent_bytes": "Int64"}
    kind, options = "CustomSeparated", """format_custom_field_delimiter = ' ', format_custom_escaping_rule = 'CSV', format_csv_delimiter = ' ',
        input_format_custom_allow_variable_number_of_columns = 1,"""
    columns = """parseDateTime64BestEffort(time, 6, 'UTC') AS time, left(client, length(client) - length(substringIndex(client, ':', -1)) - 1) AS remote_addr,
        splitByChar(' ', request)[1] AS method, elb_status_code AS status, sent_bytes AS bytes, user_agent, splitByChar(' ', request)[2] AS url"""
else:
    names = """date time x_edge_location sc_bytes c_ip cs_method cs_host cs_uri_stem sc_status cs_referer cs_user_agent cs_uri_query cs_cookie
        x_edge_result_type x_edge_request_id x_host_header cs_protocol cs_bytes time_taken x_forwarded_for ssl_protocol ssl_cipher
        x_edge_response_result_type cs_protocol_version fle_status fle_encrypted_fields c_port time_to_first_byte
        x_edge_detailed_result_type sc_content_type sc_content_len sc_range_start sc_range_end""".split()
    types = {"sc_bytes": "Int64", "sc_status": "Int64"}
    kind, options = "TSV", "input_format_tsv_skip_first_lines = 2,"
    columns = """parseDateTime64BestEffort(concat(date, ' ', time), 6, 'UTC') AS time, c_ip AS remote_addr, cs_method AS method, sc_status AS status,
        sc_bytes AS bytes, decodeURLComponent(decodeURLComponent(cs_user_agent)) AS user_agent,
        concat(cs_protocol, '://', x_host_header, cs_uri_stem, if(cs_uri_query = '-', '', concat('?', cs_uri_query))) AS url"""
structure = ", ".join(f"{name} {types.get(name, 'String')}" for name in names).replace("'", "\\'")
parts = """protocol(url) AS scheme, domain(url) AS host, cutToFirstSignificantSubdomain(url) AS registrable_domain, path(url) AS path,
        queryString(url) AS query, extractURLParameters(url) AS params"""
meter = Meter()
chdb.query(
    f"""INSERT INTO FUNCTION s3('{endpoint}/{bucket}/{out}/part.parquet', '{key}', '{secret}', 'Parquet')
        SELECT {columns}, {parts}
        FROM s3('{endpoint}/{bucket}/{source}/**.gz', '{key}', '{secret}', '{kind}', '{structure}', 'gzip')
        SETTINGS {options} max_threads = 1, max_insert_threads = 1, max_download_threads = 1, max_parsing_threads = 1, s3_truncate_on_insert = 1,
            output_format_parquet_compression_method = 'zstd', output_format_compression_level = 1, output_format_parquet_parallel_encoding = 0"""
)
print(json.dumps(meter.outcome(f"ClickHouse {chdb.engine_version} (chdb {chdb.__version__}), s3()")))
