-- What is not as plugins/testdata/functions.ndjson has it. CASES is that file; the extension is loaded.
CREATE TEMP TABLE cases AS SELECT * FROM read_json('CASES', format = 'newline_delimited', columns = {
  url: 'VARCHAR', base: 'VARCHAR', href: 'VARCHAR', scheme: 'VARCHAR', has_username: 'BOOLEAN', host: 'VARCHAR', port: 'INTEGER', origin: 'VARCHAR',
  registrable_domain: 'VARCHAR', public_suffix: 'VARCHAR', path: 'VARCHAR', query: 'VARCHAR', params: 'STRUCT("key" VARCHAR, "value" VARCHAR)[]',
  fragment: 'VARCHAR', url_error: 'VARCHAR', url_error_pos: 'INTEGER', surt: 'VARCHAR',
  canonical: 'STRUCT("strict" VARCHAR, dedupe VARCHAR, "surt-ia" VARCHAR, "surt-cc" VARCHAR)'});
-- Functions that share what is parsed, and behind them some that are alone.
CREATE TEMP TABLE wrong AS
WITH answers AS MATERIALIZED (
  SELECT *, CASE WHEN base IS NULL THEN urlmill_parse(url) ELSE urlmill_parse(url, base) END AS u,
    url_host(url) AS f_host, url_registrable_domain(url) AS f_domain, url_public_suffix(url) AS f_suffix, url_origin(url) AS f_origin, url_path(url) AS f_path,
    url_query(url) AS f_query, url_params(url) AS f_params, url_param(url, 'q') AS f_q, url_surt(url) AS f_surt, url_error(url) AS f_error, url_error_pos(url) AS f_pos,
    url_canonical(url, 'strict') AS f_strict, url_canonical(url, 'dedupe') AS f_dedupe, url_canonical(url, 'surt-ia') AS f_ia, url_canonical(url, 'surt-cc') AS f_cc
  FROM cases),
compared AS (
  SELECT url, unnest([
    {f: 'href', got: u.href, want: href}, {f: 'scheme', got: u.scheme, want: scheme}, {f: 'has_username', got: u.has_username::VARCHAR, want: has_username::VARCHAR},
    {f: 'host', got: u.host, want: host}, {f: 'port', got: u.port::VARCHAR, want: port::VARCHAR}, {f: 'origin', got: u.origin, want: origin},
    {f: 'registrable_domain', got: u.registrable_domain, want: registrable_domain}, {f: 'public_suffix', got: u.public_suffix, want: public_suffix},
    {f: 'path', got: u.path, want: path}, {f: 'query', got: u.query, want: query}, {f: 'params', got: u.params::VARCHAR, want: params::VARCHAR},
    {f: 'fragment', got: u.fragment, want: fragment}, {f: 'url_error', got: u.url_error, want: url_error}, {f: 'url_error_pos', got: u.url_error_pos::VARCHAR, want: url_error_pos::VARCHAR}]) AS c FROM answers
  UNION ALL
  SELECT url, unnest([
    {f: 'url_host', got: f_host, want: host}, {f: 'url_registrable_domain', got: f_domain, want: registrable_domain}, {f: 'url_public_suffix', got: f_suffix, want: public_suffix},
    {f: 'url_origin', got: f_origin, want: origin}, {f: 'url_path', got: f_path, want: path}, {f: 'url_query', got: f_query, want: query},
    {f: 'url_params', got: f_params::VARCHAR, want: params::VARCHAR}, {f: 'url_param', got: f_q, want: [p.value for p in params if p.key = 'q'][1]},
    {f: 'url_surt', got: f_surt, want: surt}, {f: 'url_error', got: f_error, want: url_error}, {f: 'url_error_pos', got: f_pos::VARCHAR, want: url_error_pos::VARCHAR},
    {f: 'strict', got: f_strict, want: canonical.strict}, {f: 'dedupe', got: f_dedupe, want: canonical.dedupe},
    {f: 'surt-ia', got: f_ia, want: canonical."surt-ia"}, {f: 'surt-cc', got: f_cc, want: canonical."surt-cc"}]) FROM answers WHERE base IS NULL)
SELECT url, c.f AS f, c.got AS got, c.want AS want FROM compared WHERE c.got IS DISTINCT FROM c.want;
INSERT INTO wrong SELECT url, 'url_host, alone', url_host(url), host FROM cases WHERE base IS NULL AND url_host(url) IS DISTINCT FROM host;
INSERT INTO wrong SELECT url, 'url_query, alone', url_query(url), query FROM cases WHERE base IS NULL AND url_query(url) IS DISTINCT FROM query;
SELECT (SELECT count(*) FROM cases) || ' cases, ' || (SELECT count(*) FROM wrong) || ' wrong: ' || coalesce((SELECT string_agg(wrong::VARCHAR, '; ') FROM wrong), 'none') AS result;
