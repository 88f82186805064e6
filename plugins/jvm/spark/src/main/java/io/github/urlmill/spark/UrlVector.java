package io.github.urlmill.spark;

import io.github.urlmill.Column;
import java.util.List;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.apache.spark.sql.vectorized.ColumnarMap;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/** A column of the library, read where it is, until its batch is closed. */
final class UrlVector extends ColumnVector {
  private final long validity;
  private final int offset;
  private final long values;
  private final long bytes;
  private final long mask; // validity of the URLs, 0 if all are
  private final int rows;
  private final UrlVector[] children;

  UrlVector(DataType type, Column from, long mask) {
    super(type);
    validity = from.validity();
    offset = from.offset();
    values = from.values();
    bytes = from.bytes();
    this.mask = mask;
    rows = from.rows();
    List<Column> below = from.children();
    if (type instanceof ArrayType) {
      children = new UrlVector[] {new UrlVector(((ArrayType) type).elementType(), below.get(0), 0)};
    } else {
      children = type instanceof StructType ? structure((StructType) type, below, offset) : new UrlVector[0];
    }
  }

  /** Makes a struct of columns. */
  UrlVector(StructType type, List<Column> fields, long mask) {
    super(type);
    validity = 0;
    offset = 0;
    values = 0;
    bytes = 0;
    this.mask = mask;
    rows = fields.get(0).rows();
    children = structure(type, fields, 0);
  }

  private static UrlVector[] structure(StructType type, List<Column> fields, int offset) {
    if (offset != 0) {
      throw new IllegalStateException("urlmill: a struct begins at " + offset);
    }
    UrlVector[] children = new UrlVector[type.length()];
    for (int i = 0; i < children.length; i++) {
      children[i] = new UrlVector(type.fields()[i].dataType(), fields.get(i), 0);
    }
    return children;
  }

  private static boolean bit(long bits, int i) {
    return (Platform.getByte(null, bits + (i >> 3)) >> (i & 7) & 1) != 0;
  }

  @Override
  public void close() {}

  @Override
  public boolean hasNull() {
    return validity != 0 || mask != 0;
  }

  @Override
  public int numNulls() {
    int nulls = 0;
    for (int i = 0; hasNull() && i < rows; i++) {
      nulls += isNullAt(i) ? 1 : 0;
    }
    return nulls;
  }

  @Override
  public boolean isNullAt(int row) {
    return validity != 0 && !bit(validity, row + offset) || mask != 0 && !bit(mask, row);
  }

  @Override
  public boolean getBoolean(int row) {
    return bit(values, row + offset);
  }

  @Override
  public int getInt(int row) {
    return Platform.getInt(null, values + 4L * (row + offset));
  }

  int begin(int row) {
    return getInt(row);
  }

  int end(int row) {
    return getInt(row + 1);
  }

  @Override
  public UTF8String getUTF8String(int row) {
    if (isNullAt(row)) {
      return null;
    }
    int begin = getInt(row);
    return UTF8String.fromAddress(null, bytes + begin, getInt(row + 1) - begin);
  }

  @Override
  public ColumnarArray getArray(int row) {
    return isNullAt(row) ? null : new ColumnarArray(children[0], begin(row), end(row) - begin(row));
  }

  @Override
  public ColumnVector getChild(int i) {
    return children[i];
  }

  private UnsupportedOperationException none() {
    return new UnsupportedOperationException("urlmill: no column has this type, but " + type.simpleString());
  }

  @Override
  public byte getByte(int row) {
    throw none();
  }

  @Override
  public short getShort(int row) {
    throw none();
  }

  @Override
  public long getLong(int row) {
    throw none();
  }

  @Override
  public float getFloat(int row) {
    throw none();
  }

  @Override
  public double getDouble(int row) {
    throw none();
  }

  @Override
  public ColumnarMap getMap(int row) {
    throw none();
  }

  @Override
  public Decimal getDecimal(int row, int precision, int scale) {
    throw none();
  }

  @Override
  public byte[] getBinary(int row) {
    throw none();
  }
}
