package io.github.urlmill.spark;

import static io.github.urlmill.spark.Sessions.count;
import static io.github.urlmill.spark.Sessions.plan;
import static io.github.urlmill.spark.Sessions.rows;
import static io.github.urlmill.spark.Sessions.session;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.urlmill.Library;
import io.github.urlmill.Texts;
import io.github.urlmill.UrlmillException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The functions in Spark: the shared cases, batches beside rows, plans, failures. */
class FunctionsTest {
  /** A call, and the field of a shared case that it has to give. */
  private static final String[][] CALLS = {
    {"url_host(u)", "host"}, {"url_registrable_domain(u)", "registrable_domain"}, {"url_public_suffix(u)", "public_suffix"},
    {"url_origin(u)", "origin"}, {"url_path(u)", "path"}, {"url_query(u)", "query"}, {"url_params(u)", "params"}, {"url_surt(u)", "surt"},
    {"url_error(u)", "url_error"}, {"url_error_pos(u)", "url_error_pos"}, {"url_canonical(u, 'strict')", "canonical.strict"},
    {"url_canonical(u, 'dedupe')", "canonical.dedupe"}, {"url_canonical(u, 'surt-ia')", "canonical.`surt-ia`"},
    {"url_canonical(u, 'surt-cc')", "canonical.`surt-cc`"},
  };

  private static final String[] PARTS = {
    "href", "scheme", "has_username", "host", "port", "origin", "registrable_domain", "public_suffix", "path", "query", "params", "fragment",
    "url_error", "url_error_pos"
  };

  @TempDir static Path folder;

  @BeforeAll
  static void tables() {
    StructType pair = new StructType().add("key", "string").add("value", "string");
    StructType forms = new StructType().add("strict", "string").add("dedupe", "string").add("surt-ia", "string").add("surt-cc", "string");
    StructType schema = new StructType().add("url", "string").add("base", "string").add("surt", "string").add("canonical", forms);
    for (String part : PARTS) {
      schema = part.equals("params") ? schema.add(part, org.apache.spark.sql.types.DataTypes.createArrayType(pair))
          : schema.add(part, part.equals("has_username") ? "boolean" : part.equals("port") || part.equals("url_error_pos") ? "int" : "string");
    }
    session().read().schema(schema).json(System.getProperty("urlmill.cases")).withColumnRenamed("url", "u").createOrReplaceTempView("cases");
    session().sql("CACHE TABLE cases");

    // Every shared URL many times over, odd ones among them, with columns of many types beside it, in batches that end anywhere.
    Dataset<Row> wide = session().sql("SELECT n.id AS id, CASE WHEN n.id % 3 = 0 THEN concat('https://h', n.id % 97, '.example.co.uk/', n.id, '?q=', n.id) ELSE u END AS u,"
        + " array(n.id, NULL) AS ids, map('k', named_struct('d', CAST(n.id AS DECIMAL(30, 5)), 's', array(u))) AS m, CAST(u AS BINARY) AS b,"
        + " CAST(n.id % 7 AS TINYINT) AS t, CAST(n.id AS DOUBLE) AS f, DATE '2026-01-01' AS d, named_struct('x', named_struct('y', u), 'z', IF(n.id % 5 = 0, NULL, 1.5BD)) AS s"
        + " FROM cases CROSS JOIN (SELECT explode(sequence(1, 200)) AS id) n WHERE base IS NULL");
    wide.repartition(2).write().parquet(folder.resolve("wide").toString());
    session().read().parquet(folder.resolve("wide").toString()).createOrReplaceTempView("wide");
  }

  /** The call in a lambda, where no operator can be put. */
  private static String byRow(String call) {
    return "transform(array(u), x -> " + call.replace("(u", "(x") + ")[0]";
  }

  private static void none(String wrong, String from) {
    assertEquals(Collections.emptyList(), rows("SELECT * FROM " + from + " WHERE " + wrong + " LIMIT 3"));
  }

  /** Adds a text to conditions, which says where two values differ. */
  private static void differs(List<String> to, String where, String a, String b) {
    to.add("IF(" + where + " AND NOT (" + a + " <=> " + b + "), \"" + a + "\", NULL)");
  }

  @Test
  void sharedCases() {
    assertTrue(rows("SELECT count(*) FROM cases WHERE base IS NULL").get(0).compareTo("[40]") > 0);
    List<String> differ = new ArrayList<>();
    for (String[] call : CALLS) {
      differs(differ, "base IS NULL", call[0], call[1]);
      differs(differ, "base IS NULL", byRow(call[0]), call[1]);
    }
    for (String part : PARTS) {
      differs(differ, "base IS NULL", "urlmill_parse(u)." + part, part);
      differs(differ, "base IS NOT NULL", "urlmill_parse(u, base)." + part, part);
      differs(differ, "base IS NULL", byRow("urlmill_parse(u)") + "." + part, part);
    }
    differs(differ, "true", "(urlmill_parse(u) IS NULL)", "(u IS NULL)");
    none("size(wrong) > 0", "(SELECT u, filter(array(" + String.join(", ", differ) + "), x -> x IS NOT NULL) AS wrong FROM cases)");
  }

  @Test
  void batchesAreAsRows() {
    List<String> both = new ArrayList<>();
    List<String> wrong = new ArrayList<>();
    for (int i = 0; i < CALLS.length; i++) {
      both.add(CALLS[i][0] + " AS a" + i + ", " + byRow(CALLS[i][0]) + " AS b" + i);
      wrong.add("NOT (a" + i + " <=> b" + i + ")");
    }
    String all = "(SELECT " + String.join(", ", both) + " FROM wide)";
    none(String.join(" OR ", wrong), all);
    assertEquals(rows("SELECT count(*) FROM wide"), rows("SELECT count(*) FROM " + all));
    none("NOT (p.params <=> q.params AND p.href <=> q.href AND p.url_error <=> q.url_error)",
        "(SELECT urlmill_parse(u) AS p, " + byRow("urlmill_parse(u)") + " AS q FROM wide)");
  }

  /** Columns of all types pass by rows (behind a filter) and by columns, beside what was made. */
  @Test
  void otherColumnsStayAsTheyAre() {
    String columns = "id, u, ids, m, b, t, f, d, s";
    for (String from : Arrays.asList("wide", "(SELECT * FROM wide WHERE id % 2 = 1)", "(SELECT * FROM wide ORDER BY id, u LIMIT 9000)", "(SELECT /*+ REPARTITION(3) */ * FROM wide)")) {
      String want = "SELECT " + columns + " FROM " + from + " w";
      String got = "SELECT " + columns + " FROM (SELECT *, url_host(u) AS h FROM " + from + ") WHERE h IS NULL OR h <> 'nobody'";
      // Maps cannot be compared as a whole.
      String text = "to_json(named_struct('i', id, 'u', u, 'ids', ids, 'm', m, 'b', b, 't', t, 'f', f, 'd', d, 's', s)) AS row";
      List<String> wanted = rows("SELECT count(*), sum(hash(row)) FROM (SELECT " + text + " FROM (" + want + "))");
      assertEquals(wanted, rows("SELECT count(*), sum(hash(row)) FROM (SELECT " + text + " FROM (" + got + "))"), from);
    }
  }

  @Test
  void severalFunctionsAreOneParse() {
    String p = plan("SELECT id, url_host(u), url_path(u), url_query(u), url_param(u, 'q'), urlmill_parse(u).port FROM wide");
    assertEquals(1, count("UrlEval", p), p);
    assertTrue(p.contains("ReadSchema: struct<id:int,u:string>") && !p.contains("RowToColumnar"), p);
    p = plan("SELECT url_path(u) FROM wide WHERE url_host(u) = 'a.example' AND id > 3");
    assertEquals(1, count("UrlEval", p), p);
    assertTrue(p.contains("GreaterThan(id,3)") && p.contains("ReadSchema: struct<id:int,u:string>") && !p.contains("RowToColumnar"), p);
    p = plan("SELECT p.host, count(p.path) FROM (SELECT urlmill_parse(u) AS p FROM wide) GROUP BY p.host");
    assertTrue(count("UrlEval", p) == 1 && p.contains("urlmill_parse(u") && p.contains(").host") && !p.contains("Alias"), p);
    p = plan("SELECT u FROM wide WHERE url_host(u) = 'a.example'");
    assertTrue(p.contains("ReadSchema: struct<u:string>"), p);
  }

  @Test
  void everywhereInAQuery() {
    assertEquals(rows("SELECT h, count(*) FROM (SELECT " + byRow("url_host(u)") + " AS h FROM wide) GROUP BY h ORDER BY h"),
        rows("SELECT url_host(u) AS h, count(*) FROM wide GROUP BY url_host(u) ORDER BY h"));
    assertEquals(rows("SELECT count(DISTINCT p), max(e) FROM (SELECT " + byRow("url_path(u)") + " AS p, " + byRow("url_error(u)") + " AS e FROM wide)"),
        rows("SELECT count(DISTINCT url_path(u)), max(url_error(u)) FROM wide"));
    assertEquals(rows("SELECT count(*) FROM wide a JOIN cases c ON " + byRow("url_host(a.u)").replace("array(u)", "array(a.u)").replace("(x.u)", "(x)") + " = c.host WHERE a.id < 20"),
        rows("SELECT count(*) FROM wide a JOIN cases c ON url_host(a.u) = c.host WHERE a.id < 20"));
    assertEquals(rows("SELECT count(*), max(p.value) FROM (SELECT explode(" + byRow("url_params(u)") + ") AS p FROM wide)"),
        rows("SELECT count(*), max(p.value) FROM wide LATERAL VIEW explode(url_params(u)) AS p"));
    assertEquals(1, count("UrlEval", plan("SELECT * FROM wide LATERAL VIEW explode(url_params(u)) AS p")));
    assertEquals(rows("SELECT id FROM wide ORDER BY " + byRow("url_path(u)") + ", id LIMIT 5"), rows("SELECT id FROM wide ORDER BY url_path(u), id LIMIT 5"));
    assertEquals(rows("SELECT max(r) FROM (SELECT rank() OVER (PARTITION BY " + byRow("url_host(u)") + " ORDER BY id) AS r FROM wide)"),
        rows("SELECT max(r) FROM (SELECT rank() OVER (PARTITION BY url_host(u) ORDER BY id) AS r FROM wide)"));
    assertEquals(Arrays.asList("[inner.example]"), rows("SELECT url_host(url_param(lower(v), 'next')) FROM (SELECT concat('HTTP://A/?next=http%3A%2F%2Finner.example%2F&', id) AS v FROM wide LIMIT 1)"));
    assertEquals(rows("SELECT count(*) FROM wide WHERE u IN (SELECT u FROM cases WHERE " + byRow("url_host(u)") + " = 'example.com')"),
        rows("SELECT count(*) FROM wide WHERE u IN (SELECT u FROM cases WHERE url_host(u) = 'example.com')"));
    assertEquals(Arrays.asList("[1,2,null]"), rows("SELECT url_param('http://a/?q=1', 'q'), url_param(v, n), url_param(v, 'none') FROM VALUES ('http://a/?q=1&r=2', 'r') t(v, n)"));
  }

  @Test
  void nullGivesNull() {
    assertEquals(Arrays.asList("[null,null,null,null,null,null]"),
        rows("SELECT url_host(NULL), url_param(NULL, 'q'), url_param('http://a/?q', NULL), urlmill_parse(NULL), urlmill_parse(NULL, 'http://a/'), url_canonical(NULL, 'strict')"));
    assertEquals(Arrays.asList("[missing-scheme-non-relative-URL]"), rows("SELECT urlmill_parse('b', NULL).url_error"));
  }

  @Test
  void mistakesAreSaid() {
    for (String[] q : new String[][] {
      {"url_canonical('http://a/', 'shortest')", "\"shortest\" is none of strict, dedupe, surt-ia, surt-cc"}, {"url_host()", "url_host takes 1 arguments, not 0"},
      {"url_canonical(u, u)", "the form is a constant"}, {"url_host(1)", "url_host takes strings, not int"},
    }) {
      Exception e = assertThrows(Exception.class, () -> rows("SELECT " + q[0] + " FROM cases"));
      assertTrue(("" + e.getMessage()).contains(q[1]), "" + e);
    }
  }

  @Test
  void versions() {
    assertEquals(Versions.builtFor(), scala.util.Properties$.MODULE$.versionNumberString().substring(0, 4));
    Versions.checkSpark("3.5.0");
    Versions.checkSpark("4.1.0-SNAPSHOT");
    Versions.checkScala("2.12.18", "2.12");
    for (String old : new String[] {"3.4.2", "3.3.0", "2.4.8", ""}) {
      assertTrue(assertThrows(UrlmillException.class, () -> Versions.checkSpark(old)).getMessage().contains("is for 3.5 and newer"));
    }
    assertTrue(assertThrows(UrlmillException.class, () -> Versions.checkScala("2.12.18", "2.13")).getMessage().endsWith("take urlmill-spark_2.12"));
  }

  /** Jobs that fail, that are killed, and that want the first rows alone leave nothing behind. */
  @Test
  void memoryComesBack() throws Exception {
    rows("SELECT count(url_host(u)) FROM wide");
    long before = batchesAlive(Long.MAX_VALUE);
    for (int i = 0; i < 5; i++) {
      rows("SELECT url_host(u) FROM wide LIMIT 3");
      assertThrows(Exception.class, () -> rows("SELECT sum(IF(id = 150, raise_error(url_host(u)), 1)) FROM wide"));
      assertThrows(Exception.class, () -> rows("SELECT sum(IF(id = 150, raise_error(url_host(u)), 1)) FROM wide WHERE id > 1"));
    }
    ExecutorService one = Executors.newSingleThreadExecutor();
    for (int i = 0; i < 3; i++) {
      Future<?> job = one.submit(() -> {
        session().sparkContext().setJobGroup("killed", "killed", true);
        return rows("SELECT count(DISTINCT url_path(a.u), url_query(a.u), b.id) FROM wide a CROSS JOIN wide b WHERE url_host(a.u) <> url_host(b.u)");
      });
      Thread.sleep(i == 0 ? 1500 : 700);
      while (!job.isDone()) { // its later jobs as well
        session().sparkContext().cancelJobGroup("killed");
        Thread.sleep(50);
      }
      assertThrows(Exception.class, job::get);
    }
    one.shutdown();
    assertTrue(batchesAlive(before) <= before, "of batches and processors, " + before + " were there before");
  }

  private static long batchesAlive(long until) throws InterruptedException {
    long alive = Library.alive();
    for (int i = 0; i < 100 && alive > until; i++) {
      System.gc();
      Thread.sleep(50);
      rows("SELECT url_host(concat('http://a/', id)) FROM range(1)");
      alive = Library.alive();
    }
    return alive;
  }

  @Test
  void manyQueriesAtOnce() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(6);
    List<String> want = rows("SELECT count(DISTINCT " + byRow("url_host(u)") + ") FROM wide");
    List<Future<List<String>>> got = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      String where = i % 2 == 0 ? "true" : "id > -" + i;
      Callable<List<String>> query = () -> rows("SELECT count(DISTINCT url_host(u)) FROM wide WHERE " + where);
      got.add(pool.submit(query));
    }
    for (Future<List<String>> f : got) {
      assertEquals(want, f.get());
    }
    pool.shutdown();
  }

  @Test
  void largeRowsAndManyRows() {
    assertEquals(Arrays.asList("[20,60000040]"), rows("SELECT count(*), sum(length(url_path(concat('http://a/', repeat('x', 3000000), id % 2)))) FROM range(20)"));
    assertEquals(Arrays.asList("[200000,200000]"), rows("SELECT count(*), count(DISTINCT url_path(concat('http://a/', id))) FROM range(200000)"));
    session().createDataFrame(Collections.singletonList(RowFactory.create((String) null)), new StructType().add("u", "string")).createOrReplaceTempView("nothing");
    assertEquals(Arrays.asList("[null,null]"), rows("SELECT url_error(u), url_host(u) FROM nothing"));
  }

  /** A batch with more bytes than the library takes is halved, whether it came as columns, as rows or with bases; one URL of its own has its error. */
  @Test
  void batchesThatAreTooLarge() {
    String url = "concat('https://h', id % 97, '.example/', id, repeat('x', IF(id = 777, 5000, 0)))";
    session().sql("SELECT id, IF(id % 10 = 3, NULL, " + url + ") AS u, IF(id = 778, repeat('y', 5000), 'http://b.example/') AS b FROM range(3000)").write().parquet(folder.resolve("large").toString());
    session().read().parquet(folder.resolve("large").toString()).createOrReplaceTempView("large");
    List<String> calls = Arrays.asList("url_host(u)", "url_error(u)", "urlmill_parse(u).url_error", "urlmill_parse(u, b).path", "urlmill_parse(u, b).url_error", byRow("url_path(u)"), byRow("url_error(u)"));
    String all = "SELECT id, " + String.join(", ", calls) + " FROM ";
    String filtered = "(SELECT * FROM large WHERE length(u) > 0 OR u IS NULL)";
    List<List<String>> want = Arrays.asList(rows(all + "large ORDER BY id"), rows(all + filtered + " ORDER BY id"));
    UrlTexts.most = 4096;
    try {
      for (int i = 0; i < 2; i++) {
        List<String> expected = new ArrayList<>(want.get(i));
        expected.set(777, "[777,null,record-too-large,record-too-large,null,record-too-large,null,record-too-large]");
        expected.set(778, "[778,h2.example,null,null,null,record-too-large,/778,null]");
        List<String> got = rows(all + (i == 0 ? "large" : filtered) + " ORDER BY id");
        assertEquals(3000, got.size());
        for (int row = 0; row < 3000; row++) {
          assertEquals(expected.get(row), got.get(row));
        }
      }
      assertEquals(Arrays.asList("[3000]"), rows("SELECT count(*) FROM (SELECT url_host(u) AS h, max(id) OVER () FROM large) WHERE h IS NULL OR h LIKE 'h%.example'"));
    } finally {
      UrlTexts.most = Texts.MOST_BYTES;
    }
  }

  @Test
  void metricsAreShown() {
    Dataset<Row> df = session().sql("SELECT url_host(u) FROM wide");
    df.collectAsList();
    org.apache.spark.sql.execution.SparkPlan plan = df.queryExecution().executedPlan();
    while (!(plan instanceof UrlEvalExec)) {
      plan = plan.children().head();
    }
    for (String name : new String[] {"numOutputRows", "numBatches", "urlBytes", "peakMemory", "parseTime"}) {
      assertTrue(plan.metrics().apply(name).value() > 0, name);
    }
    assertEquals(df.count(), plan.metrics().apply("numOutputRows").value());
  }

  @Test
  void withoutWholeStageCode() {
    session().conf().set("spark.sql.codegen.wholeStage", "false");
    try {
      none("NOT (h <=> " + byRow("url_host(u)") + ")", "(SELECT u, url_host(u) AS h FROM wide WHERE id < 50)");
    } finally {
      session().conf().set("spark.sql.codegen.wholeStage", "true");
    }
  }
}
