package io.github.urlmill.spark;

import io.github.urlmill.Batch;
import io.github.urlmill.TooLargeException;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.unsafe.types.UTF8String;

/** Parses URLs one by one. */
final class RowParser implements AutoCloseable, Tasks.Ended {
  private final Parsing parsing;
  private boolean closed;

  RowParser(Wanted wanted, boolean bases) {
    parsing = new Parsing(java.util.Collections.singletonList(wanted), bases);
  }

  /** Returns the value for a URL that is not null, which does not depend on this parser any more. */
  synchronized Object parse(UTF8String url, UTF8String base) {
    if (closed) {
      throw new IllegalStateException("urlmill: the task has ended");
    }
    parsing.clear();
    try {
      parsing.urls().add(url);
      if (parsing.bases() != null) {
        parsing.bases().add(base);
      }
      try (Batch batch = parsing.parse()) {
        ColumnVector column = parsing.column(batch, 0);
        return Values.copy(column, column.dataType(), 0);
      }
    } catch (TooLargeException e) {
      return TooLarge.value(parsing.wanted(0));
    }
  }

  @Override
  public void taskEnded() {
    close();
  }

  @Override
  public synchronized void close() {
    closed = true;
    parsing.close();
  }
}
