package io.github.urlmill.spark;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Hours of Spark under -Xcheck:jni (make soak-spark): one process for most of the time, then a small cluster whose executors are killed. */
class Soak {
  /** What the JVM says of a native method, and of a crash; and what Go says before it ends a process. */
  private static final Pattern WARNING = Pattern.compile("^(WARNING|FATAL ERROR) in native method|^WARNING: JNI");
  private static final Pattern CRASH = Pattern.compile("A fatal error has been detected|^FATAL ERROR in native|^fatal error: |^panic: |^SIG[A-Z]+: ");
  private static final Pattern COUNT = Pattern.compile("(\\w+)=(\\d+)");

  private static final long MOST_OF_A_TASK = 64 << 20; // in bytes; which of the queries a window has is chance, and the largest batches of theirs take 43 MB

  private final Map<String, Long> counts = new TreeMap<>();

  @Test
  void soak() throws Exception {
    double minutes = Double.parseDouble(System.getProperty("urlmill.minutes", "2"));
    Path folder = Files.createTempDirectory("urlmill-soak");
    Map<String, Long> local = process(folder.resolve("local"), "local[4,1]", (long) (minutes * 50));
    Map<String, Long> cluster = process(folder.resolve("cluster"), "local-cluster[2,1,512]", (long) Math.max(30, minutes * 10));
    String told = String.format("soak: minutes=%.0f queries=%d killed=%d failed_as_asked=%d wrong=%d crashed=%d jni_warnings=%d other_jni_warnings=%d tasks_killed=%d executors_killed=%d"
        + " alive=%d rss_first=%dMB rss_last=%dMB peak_first=%d peak_last=%d executor_rss_most=%dMB", minutes, of("queries"), of("killed"), of("failed_as_asked"), of("wrong"), of("crashed"), of("ours"),
        of("others"), of("tasks_killed"), of("executors_killed"), local.get("alive"), local.get("rss_first"), local.get("rss_last"), local.get("peak_first"), local.get("peak_last"), cluster.get("rss_most"));
    System.out.println(told);
    boolean grew = local.get("rss_last") > local.get("rss_first") * 1.25 + 100 || local.get("peak_last") > Math.max(MOST_OF_A_TASK, local.get("peak_first") * 3) || local.get("alive") > 16
        || cluster.get("rss_most") > 1024; // twice the heap of an executor
    boolean idle = of("queries") == 0 || of("killed") == 0 || of("failed_as_asked") == 0 || of("tasks_killed") == 0 || of("executors_killed") == 0;
    assertTrue(of("wrong") + of("crashed") + of("ours") == 0 && !grew && !idle, told + "; see " + folder);
    try (Stream<Path> all = Files.walk(folder)) {
      all.sorted(Comparator.reverseOrder()).forEach(p -> p.toFile().delete());
    }
  }

  private long of(String count) {
    return counts.getOrDefault(count, 0L);
  }

  /** Runs a process in a folder of its own, adds what it and its executors have said to the counts, and returns what it said at its end. */
  private Map<String, Long> process(Path folder, String master, long seconds) throws Exception {
    Files.createDirectories(folder.resolve("spark/jars"));
    String classes = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java", "-cp", classes));
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments()); // -Xcheck:jni among them
    command.addAll(List.of("-Xms768m", "-Xmx768m", "-XX:+AlwaysPreTouch", SoakJobs.class.getName(), master, "" + seconds, folder.toString()));
    File log = folder.resolve("log").toFile();
    ProcessBuilder b = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).redirectOutput(log);
    b.environment().putAll(Map.of("SPARK_HOME", folder.resolve("spark").toString(), "SPARK_SCALA_VERSION", Versions.builtFor(), "SPARK_LOCAL_IP", "127.0.0.1"));
    Process p = b.start();
    boolean ended = p.waitFor(seconds + 600, TimeUnit.SECONDS);
    if (!ended) {
      p.descendants().forEach(ProcessHandle::destroyForcibly);
      p.destroyForcibly().waitFor();
    }
    counts.merge("crashed", p.exitValue() == 0 ? 0L : 1L, Long::sum);
    Map<String, Long> last = new TreeMap<>();
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path file : all.filter(f -> f.endsWith("log") || f.endsWith("stdout") || f.endsWith("stderr")).toList()) {
        read(file, last);
      }
    }
    last.forEach((name, n) -> counts.merge(name, n, Long::sum));
    System.out.println("soak: " + master + " ended with " + p.exitValue() + (ended ? "" : ", as it stood still") + ": " + last);
    assertTrue(last.containsKey("alive"), "it did not come to its end: " + log);
    return last;
  }

  private void read(Path file, Map<String, Long> last) throws IOException {
    try (BufferedReader lines = Files.newBufferedReader(file, java.nio.charset.StandardCharsets.ISO_8859_1)) {
      int within = 0; // lines of the stack behind a warning
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith("soak: ended ")) {
          for (Matcher m = COUNT.matcher(line); m.find(); ) {
            last.put(m.group(1), Long.parseLong(m.group(2)));
          }
        } else if (line.startsWith("soak: wrong") || CRASH.matcher(line).find()) {
          System.out.println(file + ": " + line);
        }
        if (CRASH.matcher(line).find()) {
          counts.merge("crashed", 1L, Long::sum);
        }
        if (WARNING.matcher(line).find()) {
          within = 20;
          counts.merge("others", 1L, Long::sum);
        } else if (within > 0 && line.contains("io.github.urlmill.Native.")) {
          within = 0;
          counts.merge("others", -1L, Long::sum);
          counts.merge("ours", 1L, Long::sum);
        } else {
          within = line.startsWith("\tat ") ? within - 1 : 0;
        }
      }
    }
  }
}
