package io.github.urlmill.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.unsafe.Platform;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/** Rows as batches: copies of so many, and columns that read them. The memory of a batch is used for the next one. */
final class Gathered extends AbstractIterator<ColumnarBatch> {
  static final int ROWS = 8192;
  static final int BYTES = 16 << 20; // a batch ends with the row that reaches them

  private static final int PAGE = 1 << 20;

  private final Iterator<InternalRow> in;
  private final DataType[] types;
  private final List<byte[]> pages = new ArrayList<>();
  private final UnsafeRow[] rows; // as many as a batch has at most
  private final ColumnVector[] columns;
  private UnsafeProjection unsafe;
  private int page; // which is being filled
  private int used; // bytes of it

  Gathered(DataType[] types, Iterator<InternalRow> in, int most) {
    this.types = types;
    this.in = in;
    rows = new UnsafeRow[Math.min(most, ROWS)];
    columns = new ColumnVector[types.length];
    for (int i = 0; i < columns.length; i++) {
      columns[i] = new RowsVector.OfRows(types[i], rows, i);
    }
  }

  @Override
  public boolean hasNext() {
    return in.hasNext();
  }

  @Override
  public ColumnarBatch next() {
    int n = 0;
    long bytes = 0;
    page = 0;
    used = 0;
    while (n < rows.length && bytes < BYTES && in.hasNext()) {
      InternalRow row = in.next();
      if (rows[n] == null) {
        rows[n] = new UnsafeRow(types.length);
      }
      bytes += copy(row instanceof UnsafeRow ? (UnsafeRow) row : projected(row), rows[n++]);
    }
    while (pages.size() > page + 1 && pages.size() > BYTES / PAGE) {
      pages.remove(pages.size() - 1);
    }
    return new ColumnarBatch(columns, n);
  }

  private UnsafeRow projected(InternalRow row) {
    if (unsafe == null) {
      unsafe = UnsafeProjection.create(types);
    }
    return unsafe.apply(row);
  }

  private int copy(UnsafeRow from, UnsafeRow to) {
    int size = from.getSizeInBytes();
    byte[] into = room(size);
    Platform.copyMemory(from.getBaseObject(), from.getBaseOffset(), into, Platform.BYTE_ARRAY_OFFSET + used, size);
    to.pointTo(into, Platform.BYTE_ARRAY_OFFSET + used, size);
    used += size; // a multiple of 8
    return size;
  }

  /** Returns a page with room for so many bytes at used. */
  private byte[] room(int size) {
    while (page < pages.size() && pages.get(page).length - used < size) {
      page++;
      used = 0;
    }
    if (page == pages.size()) {
      pages.add(new byte[Math.max(PAGE, size)]);
    }
    return pages.get(page);
  }

  /** Lets go of the memory. Tasks may have many of these, one after the other. */
  void close() {
    pages.clear();
    java.util.Arrays.fill(rows, null);
  }

  /** Returns how much memory the rows take. */
  long memory() {
    long bytes = 0;
    for (byte[] p : pages) {
      bytes += p.length;
    }
    return bytes;
  }
}
