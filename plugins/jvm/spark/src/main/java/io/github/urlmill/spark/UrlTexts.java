package io.github.urlmill.spark;

import io.github.urlmill.Texts;
import io.github.urlmill.TooLargeException;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/** A column of URLs, filled with Spark's strings. */
final class UrlTexts implements AutoCloseable {
  static int most = Texts.MOST_BYTES; // tests set less

  private final Texts texts = new Texts();

  Texts texts() {
    return texts;
  }

  /**
   * Appends a row, null for one without a value.
   *
   * @throws io.github.urlmill.TooLargeException if there is no room for it
   */
  void add(UTF8String text) {
    if (text == null) {
      texts.addNull();
      return;
    }
    int length = text.numBytes();
    if (length > most - texts.size()) {
      throw new TooLargeException("urlmill: a batch has more than " + most + " bytes of URLs");
    }
    Platform.copyMemory(text.getBaseObject(), text.getBaseOffset(), null, texts.reserve(length), length);
  }

  void addAll(ColumnVector from, int rows) {
    for (int i = 0; i < rows; i++) {
      add(from.isNullAt(i) ? null : from.getUTF8String(i));
    }
  }

  void clear() {
    texts.clear();
  }

  @Override
  public void close() {
    texts.close();
  }
}
