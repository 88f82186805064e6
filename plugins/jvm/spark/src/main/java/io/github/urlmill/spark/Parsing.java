package io.github.urlmill.spark;

import io.github.urlmill.Batch;
import io.github.urlmill.Column;
import io.github.urlmill.Options;
import io.github.urlmill.Processor;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnVector;

/** All that is wanted of one column of URLs, with one canonical form at most: one parse. */
final class Parsing implements AutoCloseable {
  private final Processor processor;
  private final List<Wanted> wanted;
  private final int[] places; // of the first column of each in the processor's
  private final UrlTexts urls = new UrlTexts();
  private final UrlTexts bases;

  Parsing(List<Wanted> wanted, boolean withBases) {
    this.wanted = wanted;
    this.bases = withBases ? new UrlTexts() : null;
    Options options = new Options();
    List<Wanted> there = new ArrayList<>();
    places = new int[wanted.size()];
    int next = 0;
    for (int i = 0; i < places.length; i++) { // structs first, since they name all of their columns
      if (wanted.get(i).kind() == Wanted.Kind.PARTS) {
        places[i] = 0;
        if (next == 0) {
          wanted.get(i).addTo(options, "");
          for (int part = 0; part < ((StructType) wanted.get(i).type()).length(); part++) {
            there.add(Wanted.part(part));
          }
          next = there.size();
        }
      }
    }
    for (int i = 0; i < places.length; i++) {
      Wanted w = wanted.get(i);
      if (w.kind() == Wanted.Kind.PARTS) {
        continue;
      }
      places[i] = there.indexOf(w);
      if (places[i] < 0) {
        places[i] = there.size();
        w.addTo(options, "parameter_" + places[i]);
        there.add(w);
      }
    }
    processor = (withBases ? options.bases() : options).processor();
  }

  /** Returns where the URLs of the next batch go. */
  UrlTexts urls() {
    return urls;
  }

  /** Returns where their bases go, null if there are none. */
  UrlTexts bases() {
    return bases;
  }

  /** Empties both. The batch before has to be closed. */
  void clear() {
    urls.clear();
    if (bases != null) {
      bases.clear();
    }
  }

  /** Parses them. They stay as they are until the batch is closed. */
  Batch parse() {
    return processor.parse(urls.texts(), bases == null ? null : bases.texts());
  }

  /** Returns what is wanted as the i-th. */
  Wanted wanted(int i) {
    return wanted.get(i);
  }

  /** Returns the column of what is wanted as the i-th, until the batch is closed. Rows without a URL have no value. */
  ColumnVector column(Batch batch, int i) {
    Wanted w = wanted.get(i);
    long mask = urls.texts().validity();
    if (w.kind() != Wanted.Kind.PARTS) {
      return new UrlVector(w.type(), batch.column(places[i]), mask);
    }
    StructType type = (StructType) w.type();
    List<Column> columns = new ArrayList<>();
    for (int part = 0; part < type.length(); part++) {
      columns.add(batch.column(places[i] + part));
    }
    return new UrlVector(type, columns, mask);
  }

  /** Returns how much memory the URLs take. */
  long memory() {
    return urls.texts().memory() + (bases == null ? 0 : bases.texts().memory());
  }

  @Override
  public void close() {
    urls.close();
    if (bases != null) {
      bases.close();
    }
  }
}
