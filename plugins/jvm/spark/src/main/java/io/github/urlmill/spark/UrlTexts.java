package io.github.urlmill.spark;

import io.github.urlmill.Texts;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/** A column of URLs, filled with Spark's strings. */
final class UrlTexts implements AutoCloseable {
  private final Texts texts = new Texts();

  Texts texts() {
    return texts;
  }

  void add(UTF8String text) {
    if (text == null) {
      texts.addNull();
      return;
    }
    int length = text.numBytes();
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
