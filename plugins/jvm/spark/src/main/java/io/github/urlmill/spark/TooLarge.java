package io.github.urlmill.spark;

import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.unsafe.types.UTF8String;

/** What becomes of a URL that is too large to be parsed by itself: no value, and the error that records have which are too large. */
final class TooLarge {
  private static final UTF8String ERROR = UTF8String.fromString("record-too-large");

  private TooLarge() {}

  /** Returns what is wanted of such a URL. */
  static Object value(Wanted wanted) {
    if (wanted.kind() != Wanted.Kind.PARTS) {
      return wanted.equals(Wanted.column("url_error")) ? ERROR : null;
    }
    StructType type = (StructType) wanted.type();
    Object[] parts = new Object[type.length()];
    parts[type.fieldIndex("url_error")] = ERROR;
    return new GenericInternalRow(parts);
  }

  /** Returns it as a column of one row. */
  static ColumnVector column(Wanted wanted) {
    return new RowsVector.OfRow(wanted.type(), new GenericInternalRow(new Object[] {value(wanted)}));
  }
}
