package io.github.urlmill;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A column of a {@link Batch}, as addresses of Arrow's buffers, until the batch is closed. Hosts with access to raw memory read them
 * there; {@link #text} and its like are for those without.
 */
public final class Column {
  private final Field field;
  private final int rows;
  private final int nulls;
  private final int offset;
  private final long[] buffers;
  private final List<Column> children = new ArrayList<>();

  private Column(Field field, long[] nodes, int[] at) {
    this.field = field;
    int i = at[0];
    rows = (int) nodes[i];
    nulls = (int) nodes[i + 1];
    offset = (int) nodes[i + 2];
    buffers = new long[] {nodes[i + 3], nodes[i + 4], nodes[i + 5]};
    at[0] += Batch.NODE;
    for (Field child : field.children()) {
      children.add(new Column(child, nodes, at));
    }
  }

  /** Reads the nodes that {@link Native#parse} describes. */
  static Column read(Field root, long[] nodes) {
    return new Column(root, nodes, new int[] {0});
  }

  /** Returns what the column is. */
  public Field field() {
    return field;
  }

  /** Returns the number of rows. */
  public int rows() {
    return rows;
  }

  /** Returns the number of rows without a value. */
  public int nulls() {
    return nulls;
  }

  /** Returns how many values of the buffers lie before the first row. */
  public int offset() {
    return offset;
  }

  /** Returns the address of the bitmap of validity, 0 if all rows are valid. */
  public long validity() {
    return nulls == 0 ? 0 : buffers[0];
  }

  /** Returns the address of the offsets of texts or lists, or of the values of other types. */
  public long values() {
    return buffers[1];
  }

  /** Returns the address of the bytes of texts. */
  public long bytes() {
    return buffers[2];
  }

  /** Returns the columns of a struct, or the values of a list. */
  public List<Column> children() {
    return children;
  }

  /** Reports whether a row has no value. */
  public boolean isNull(int row) {
    return validity() != 0 && !bit(validity(), row);
  }

  /** Returns a text, null where there is none. */
  public String text(int row) {
    if (isNull(row)) {
      return null;
    }
    int begin = number(row);
    byte[] text = new byte[number(row + 1) - begin];
    if (text.length > 0) {
      Native.view(bytes() + begin, text.length).get(text);
    }
    return new String(text, StandardCharsets.UTF_8);
  }

  /** Returns a number of 32 bits, or the offset of a text or a list. */
  public int number(int row) {
    ByteBuffer view = Native.view(values() + 4L * (row + offset), 4);
    return view.order(ByteOrder.nativeOrder()).getInt(0);
  }

  /** Returns a boolean. */
  public boolean truth(int row) {
    return bit(values(), row);
  }

  private boolean bit(long bits, int row) {
    int i = row + offset;
    return (Native.view(bits + i / 8, 1).get(0) >> i % 8 & 1) != 0;
  }
}
