package io.github.urlmill.spark;

import io.github.urlmill.Library;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF2;
import org.apache.spark.sql.types.DataTypes;

/**
 * The process of the {@link Soak}: queries whose answers are known, each in a thread of its own, while jobs, tasks and executors are killed, some fail at
 * a late row, some want more memory than there is, and the heap is short of room.
 */
public final class SoakJobs extends SparkListener {
  private static final int AT_ONCE = 4;
  private static final int WINDOWS = 10;
  private static final String ASKED = "failed as asked";
  private static final String HEAP = "OutOfMemoryError";

  /** What is asked, and either what it gives or what it fails with. */
  private record Query(String sql, String want, String failure) {}

  private final SparkSession spark;
  private final boolean cluster;
  private final List<Query> queries = new ArrayList<>();
  private final Map<String, Boolean> groups = new ConcurrentHashMap<>(); // of jobs that run, and whether they were killed
  private final Set<Long> tasks = ConcurrentHashMap.newKeySet(); // that run
  private final AtomicLong right = new AtomicLong();
  private final AtomicLong killed = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private final AtomicLong wrong = new AtomicLong();
  private final AtomicLong attempts = new AtomicLong(); // killed, of tasks
  private final AtomicLong executors = new AtomicLong(); // killed
  private final long[] rss = new long[WINDOWS]; // MB at most, of this process, or of the largest executor
  private final long[] peak = new long[WINDOWS];
  private volatile int window;

  /** Runs the jobs: MASTER SECONDS FOLDER. */
  public static void main(String[] args) throws Exception {
    new SoakJobs(args[0], Path.of(args[2])).run(Long.parseLong(args[1]));
    System.exit(0);
  }

  private SoakJobs(String master, Path folder) {
    cluster = !master.startsWith("local[");
    SparkSession.Builder b = SparkSession.builder().master(master).config("spark.sql.extensions", UrlmillExtensions.class.getName());
    for (String setting : new String[] {
      "spark.ui.enabled=false", "spark.driver.bindAddress=127.0.0.1", "spark.driver.host=127.0.0.1", "spark.sql.shuffle.partitions=3",
      "spark.ui.retainedJobs=50", "spark.ui.retainedStages=50", "spark.ui.retainedTasks=500", "spark.sql.ui.retainedExecutions=50",
      "spark.executor.killOnFatalError.depth=" + (cluster ? 5 : 0), // a task without memory ends its executor, and not the only process
      "spark.task.maxFailures=8", "spark.excludeOnFailure.enabled=false", "spark.deploy.maxExecutorRetries=-1", "spark.executor.memory=512m",
      "spark.executor.extraClassPath=" + System.getProperty("java.class.path"), "spark.executor.extraJavaOptions=-Xcheck:jni",
      "spark.sql.files.maxPartitionBytes=1m", "spark.sql.files.openCostInBytes=0", "spark.sql.autoBroadcastJoinThreshold=-1",
    }) {
      b = b.config(setting.substring(0, setting.indexOf('=')), setting.substring(setting.indexOf('=') + 1));
    }
    spark = b.getOrCreate();
    spark.sparkContext().setLogLevel("OFF");
    spark.sparkContext().addSparkListener(this);
    spark.udf().register("fails_at", (UDF2<Long, Long, Long>) (id, at) -> {
      if (id.equals(at)) {
        throw new IllegalStateException(ASKED);
      }
      return id;
    }, DataTypes.LongType);
    if (!cluster) {
      UrlTexts.most = 128 << 10; // batches are halved all the time
    }
    table(folder.resolve("t").toString());
    queries();
  }

  /** Writes the URLs with what is known of them, by functions of Spark's own. */
  private void table(String to) {
    String made = "SELECT id, host, path, q, CASE id % 10 WHEN 0 THEN NULL WHEN 1 THEN 'http://1.2.3.300/' WHEN 2 THEN concat('no url ', id)"
        + " ELSE concat('https://www.', host, '/a/..', path, '?q=', replace(q, ' ', '+'), '&utm_source=x') END AS u,"
        + " CASE id % 10 WHEN 1 THEN 'IPv4-out-of-range-part' WHEN 2 THEN 'missing-scheme-non-relative-URL' END AS error, array(id, NULL) AS ids"
        + " FROM (SELECT id, IF(id % 10 < 3, NULL, concat('h', id % 97, '.co.uk')) AS host, IF(id % 10 < 3, NULL, concat('a ', id)) AS q,"
        + " IF(id % 10 < 3, NULL, concat('/', id, repeat('x', IF(id % 5000 = 13, 100000, IF(id % 100 = 3, 2000, 0))))) AS path FROM range(0, 60000, 1, 6))";
    spark.sql(made).write().parquet(to);
    spark.read().parquet(to).createOrReplaceTempView("t");
  }

  private String answer(String sql) {
    return spark.sql(sql).collectAsList().toString();
  }

  /** Adds a query that gives what it gives with the column in the place of the function. */
  private void known(String sql) {
    queries.add(new Query(sql, answer(sql.replaceAll("url_registrable_domain\\((\\w\\.)?u\\)", "$1host")), null));
  }

  private void queries() {
    String[] checks = {
      "url_host(u) <=> concat('www.', host) AND url_path(u) <=> path AND url_error(u) <=> error AND url_param(u, 'q') <=> q",
      "url_registrable_domain(u) <=> host AND url_canonical(u, 'dedupe') <=> concat('https://', host, path, '?q=', replace(q, ' ', '+'))",
      "to_json(url_params(u)) <=> concat('[{\"key\":\"q\",\"value\":\"', q, '\"},{\"key\":\"utm_source\",\"value\":\"x\"}]')",
      "urlmill_parse(concat('/b', id), u).path <=> IF(host IS NULL, NULL, concat('/b', id)) AND size(ids) = 2",
      "transform(array(u), x -> url_host(x))[0] <=> concat('www.', host) AND url_public_suffix(u) <=> IF(host IS NULL, NULL, 'co.uk')",
      "p.path <=> path AND p.url_error <=> error AND p.params[0].value <=> q AND p.query <=> concat('q=', replace(q, ' ', '+'), '&utm_source=x')",
    };
    for (String from : new String[] {"t", "(SELECT * FROM t WHERE id % 3 <> 1)", "(SELECT /*+ REPARTITION(3) */ * FROM t)"}) {
      String rows = answer("SELECT count(*) FROM " + from).replace("[[", "").replace("]]", "");
      for (String check : checks) {
        String of = check.contains("p.") ? "(SELECT *, urlmill_parse(u) AS p FROM " + from + ")" : from;
        queries.add(new Query("SELECT count(*), count_if(NOT (" + check + ")) FROM " + of, "[[" + rows + ",0]]", null));
      }
      known("SELECT sum(c), count(*) FROM (SELECT url_registrable_domain(u) AS h, count(*) AS c FROM " + from + " GROUP BY 1)");
      known("SELECT count(*), max(id) FROM " + from + " WHERE url_registrable_domain(u) = 'h13.co.uk'");
      queries.add(new Query("SELECT count_if(length(h) > 2) FROM (SELECT url_host(u) AS h FROM " + from + " WHERE host IS NOT NULL LIMIT 7)", "[[7]]", null));
      queries.add(new Query("SELECT sum(length(url_host(u)) + fails_at(id, 55556L)) FROM " + from, null, ASKED));
      queries.add(new Query("SELECT max(url_path(concat(u, IF(id = 33333, repeat('x', 1500000000), 'y')))) FROM " + from, null, HEAP));
    }
    known("SELECT count(*), max(b.id) FROM t a JOIN t b ON url_registrable_domain(a.u) = url_registrable_domain(b.u) WHERE a.id < 500");
    queries.add(new Query("SELECT count(*), sum(length(url_path(concat('http://a/', repeat('x', 3000 * (id % 30)), id % 2)))) FROM range(3000)", "[[3000,130506000]]", null));
    if (!cluster) {
      queries.add(new Query("SELECT count(*), count_if(url_error(u) <=> 'record-too-large') FROM (SELECT concat('http://a/', repeat('x', id * 40000)) AS u FROM range(10))", "[[10,6]]", null));
    }
  }

  private void run(long seconds) throws Exception {
    long start = System.nanoTime();
    long end = start + seconds * 1_000_000_000L;
    Thread disturbing = new Thread(() -> disturb(end));
    disturbing.setDaemon(true);
    disturbing.start();
    Semaphore free = new Semaphore(AT_ONCE);
    long told = 0;
    for (int n = 0; System.nanoTime() < end; n++) {
      window = (int) Math.min(WINDOWS - 1, (System.nanoTime() - start) * WINDOWS / (end - start));
      rss[window] = Math.max(rss[window], cluster ? executors().mapToLong(p -> resident(p.pid() + "")).max().orElse(0) : resident("self"));
      if ((System.nanoTime() - start) / 60_000_000_000L > told) {
        told++;
        System.out.println("soak: minute " + told + ": " + counts() + " rss=" + rss[window] + "MB");
      }
      free.acquire();
      int number = n;
      new Thread(() -> {
        try {
          query(number, new Random());
        } finally {
          free.release();
        }
      }).start();
    }
    free.acquire(AT_ONCE);
    System.out.println("soak: windows rss=" + Arrays.toString(rss) + " peak=" + Arrays.toString(peak));
    System.out.println("soak: ended " + counts() + " alive=" + alive() + " rss_first=" + rss[1] + " rss_last=" + rss[WINDOWS - 1]
        + " rss_most=" + LongStream.of(rss).max().getAsLong() + " peak_first=" + peak[1] + " peak_last=" + peak[WINDOWS - 1]);
  }

  private String counts() {
    return "queries=" + right + " killed=" + killed + " failed_as_asked=" + failed + " wrong=" + wrong + " tasks_killed=" + attempts + " executors_killed=" + executors;
  }

  private void query(int number, Random r) {
    if (number % 5 == 0) { // of the driver alone
      String host = "h" + number + ".example";
      judge(new Query("", "[[" + host + "]]", null), answer("SELECT url_host('http://" + host + "/a')"), null, false);
      return;
    }
    Query q = queries.get(r.nextInt(queries.size()));
    if (cluster && q.failure == HEAP && r.nextInt(3) > 0) {
      return;
    }
    String group = "query-" + number;
    groups.put(group, false);
    String got = null;
    Throwable thrown = null;
    try {
      spark.sparkContext().setJobGroup(group, group, true);
      got = answer(q.sql);
    } catch (Throwable e) {
      thrown = e;
    }
    judge(q, got, thrown, groups.remove(group));
  }

  private void judge(Query q, String got, Throwable thrown, boolean wasKilled) {
    StringWriter text = new StringWriter();
    if (thrown != null) {
      thrown.printStackTrace(new PrintWriter(text));
    }
    String why = text.toString();
    if (thrown == null && got.equals(q.want)) {
      right.incrementAndGet();
    } else if (thrown != null && q.failure != null && (why.contains(q.failure) || cluster && q.failure == HEAP && why.contains("ExecutorLostFailure"))) {
      failed.incrementAndGet();
    } else if (thrown != null && (wasKilled || cluster && why.contains("ExecutorLostFailure"))) {
      killed.incrementAndGet();
    } else {
      wrong.incrementAndGet();
      System.out.println("soak: wrong: " + q + " gave " + got + " " + why.lines().limit(12).toList());
    }
  }

  /** Disturbs until the end. What still runs then comes to its end, also where executors take longer to start than they live. */
  private void disturb(long end) {
    Random r = new Random();
    while (System.nanoTime() < end) {
      try {
        Thread.sleep(r.nextInt(cluster ? 3000 : 600));
        switch (r.nextInt(5)) {
          case 0 -> cancel(r);
          case 1 -> System.gc();
          case 2 -> press(r);
          default -> {
            if (cluster && (executors.get() == 0 || r.nextInt(3) == 0)) {
              killExecutor(r);
            } else {
              tasks.stream().limit(1 + r.nextInt(3)).forEach(this::killTask);
            }
          }
        }
      } catch (Exception e) {
        System.out.println("soak: disturbing: " + e);
      }
    }
  }

  private void cancel(Random r) {
    List<String> all = new ArrayList<>(groups.keySet());
    if (!all.isEmpty()) {
      String group = all.get(r.nextInt(all.size()));
      if (groups.replace(group, true) != null) {
        spark.sparkContext().cancelJobGroup(group);
      }
    }
  }

  private void killTask(long id) {
    if (spark.sparkContext().killTaskAttempt(id, true, "soak")) {
      attempts.incrementAndGet();
    }
  }

  private static Stream<ProcessHandle> executors() {
    return ProcessHandle.current().descendants().filter(p -> p.info().command().orElse("").endsWith("/java"));
  }

  private void killExecutor(Random r) {
    List<ProcessHandle> all = executors().toList();
    if (!all.isEmpty() && all.get(r.nextInt(all.size())).destroyForcibly()) {
      executors.incrementAndGet();
    }
  }

  /** Holds some of the heap for a moment. */
  private static void press(Random r) throws InterruptedException {
    byte[][] held = new byte[100][];
    for (int i = 0; i < 400; i++) {
      held[i % held.length] = new byte[1 << 20];
    }
    Thread.sleep(r.nextInt(300));
    java.lang.ref.Reference.reachabilityFence(held);
  }

  /** Returns how many batches are still there when no task runs any more, and the processors that are kept. */
  private long alive() throws InterruptedException {
    long alive = Library.alive();
    for (int i = 0; i < 100 && alive > 16; i++) {
      System.gc();
      Thread.sleep(50);
      answer("SELECT url_host(concat('http://a/', id)) FROM range(1)");
      alive = Library.alive();
    }
    return alive;
  }

  /** Returns the MB that a process has in memory, 0 of one that has just ended. */
  private static long resident(String pid) {
    try {
      return Files.readAllLines(Path.of("/proc", pid, "status")).stream().filter(line -> line.startsWith("VmRSS:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) / 1024).sum();
    } catch (IOException e) {
      return 0;
    }
  }

  @Override
  public void onTaskStart(SparkListenerTaskStart started) {
    tasks.add(started.taskInfo().taskId());
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd ended) {
    tasks.remove(ended.taskInfo().taskId());
    for (AccumulableInfo a : Lists.java(ended.taskInfo().accumulables())) {
      if (a.name().isDefined() && a.name().get().startsWith("peak memory for URLs") && a.update().isDefined()) {
        int w = window;
        peak[w] = Math.max(peak[w], Long.parseLong(a.update().get().toString()));
      }
    }
  }
}
