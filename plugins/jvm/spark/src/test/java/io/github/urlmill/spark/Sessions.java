package io.github.urlmill.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/** The session of the tests. */
final class Sessions {
  private static SparkSession session;

  private Sessions() {}

  static synchronized SparkSession session() {
    if (session == null) {
      session = SparkSession.builder().master("local[2]").config("spark.sql.extensions", UrlmillExtensions.class.getName())
          .config("spark.ui.enabled", "false").config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
          .config("spark.sql.shuffle.partitions", "2").config("spark.sql.warehouse.dir", System.getProperty("java.io.tmpdir") + "/warehouse")
          .getOrCreate();
    }
    return session;
  }

  static List<String> rows(String sql) {
    List<String> rows = new ArrayList<>();
    for (Row row : session().sql(sql).collectAsList()) {
      rows.add(row.toString());
    }
    return rows;
  }

  static String plan(String sql) {
    return session().sql(sql).queryExecution().executedPlan().toString();
  }

  /** Returns how often the text is in the other. */
  static int count(String text, String in) {
    return in.split(java.util.regex.Pattern.quote(text), -1).length - 1;
  }
}
