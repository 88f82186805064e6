package io.github.urlmill.spark;

import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.apache.spark.sql.vectorized.ColumnarMap;
import org.apache.spark.unsafe.types.UTF8String;

/** A column that reads values where they are in rows, structs or arrays. */
abstract class RowsVector extends ColumnVector {
  RowsVector(DataType type) {
    super(type);
  }

  /** Reports whether columns of a type can be read so. */
  static boolean supports(DataType type) {
    if (type instanceof ArrayType) {
      return supports(((ArrayType) type).elementType());
    }
    if (type instanceof MapType) {
      return supports(((MapType) type).keyType()) && supports(((MapType) type).valueType());
    }
    if (type instanceof StructType) {
      for (int i = 0; i < ((StructType) type).length(); i++) {
        if (!supports(((StructType) type).fields()[i].dataType())) {
          return false;
        }
      }
      return true;
    }
    return type instanceof StringType || type instanceof BinaryType || type instanceof DecimalType || UnsafeRow.isFixedLength(type);
  }

  /** Returns what has the value of a row. */
  abstract SpecializedGetters in(int row);

  /** Returns at which place it has the value. */
  abstract int at(int row);

  /** A column of rows. */
  static final class OfRows extends RowsVector {
    private final UnsafeRow[] rows;
    private final int ordinal;

    OfRows(DataType type, UnsafeRow[] rows, int ordinal) {
      super(type);
      this.rows = rows;
      this.ordinal = ordinal;
    }

    @Override
    SpecializedGetters in(int row) {
      return rows[row];
    }

    @Override
    int at(int row) {
      return ordinal;
    }
  }

  /** The first value of one row. */
  static final class OfRow extends RowsVector {
    private final SpecializedGetters row;

    OfRow(DataType type, SpecializedGetters row) {
      super(type);
      this.row = row;
    }

    @Override
    SpecializedGetters in(int i) {
      return row;
    }

    @Override
    int at(int i) {
      return 0;
    }
  }

  /** A field of a column of structs. */
  private static final class OfStructs extends RowsVector {
    private final RowsVector structs;
    private final int fields;
    private final int ordinal;

    OfStructs(DataType type, RowsVector structs, int fields, int ordinal) {
      super(type);
      this.structs = structs;
      this.fields = fields;
      this.ordinal = ordinal;
    }

    @Override
    SpecializedGetters in(int row) {
      return structs.in(row).getStruct(structs.at(row), fields);
    }

    @Override
    int at(int row) {
      return ordinal;
    }
  }

  /** The values of one array. */
  private static final class OfArray extends RowsVector {
    private final ArrayData values;

    OfArray(DataType type, ArrayData values) {
      super(type);
      this.values = values;
    }

    @Override
    SpecializedGetters in(int row) {
      return values;
    }

    @Override
    int at(int row) {
      return row;
    }
  }

  @Override
  public void close() {}

  @Override
  public boolean hasNull() {
    return true; // as far as is known
  }

  @Override
  public int numNulls() {
    throw new UnsupportedOperationException("urlmill: nulls of rows are not counted");
  }

  @Override
  public boolean isNullAt(int row) {
    return in(row).isNullAt(at(row));
  }

  @Override
  public boolean getBoolean(int row) {
    return in(row).getBoolean(at(row));
  }

  @Override
  public byte getByte(int row) {
    return in(row).getByte(at(row));
  }

  @Override
  public short getShort(int row) {
    return in(row).getShort(at(row));
  }

  @Override
  public int getInt(int row) {
    return in(row).getInt(at(row));
  }

  @Override
  public long getLong(int row) {
    return in(row).getLong(at(row));
  }

  @Override
  public float getFloat(int row) {
    return in(row).getFloat(at(row));
  }

  @Override
  public double getDouble(int row) {
    return in(row).getDouble(at(row));
  }

  @Override
  public Decimal getDecimal(int row, int precision, int scale) {
    return in(row).getDecimal(at(row), precision, scale);
  }

  @Override
  public UTF8String getUTF8String(int row) {
    return in(row).getUTF8String(at(row));
  }

  @Override
  public byte[] getBinary(int row) {
    return in(row).getBinary(at(row));
  }

  @Override
  public ColumnarArray getArray(int row) {
    if (isNullAt(row)) {
      return null;
    }
    ArrayData values = in(row).getArray(at(row));
    return new ColumnarArray(new OfArray(((ArrayType) type).elementType(), values), 0, values.numElements());
  }

  @Override
  public ColumnarMap getMap(int row) {
    if (isNullAt(row)) {
      return null;
    }
    MapData map = in(row).getMap(at(row));
    MapType t = (MapType) type;
    return new ColumnarMap(new OfArray(t.keyType(), map.keyArray()), new OfArray(t.valueType(), map.valueArray()), 0, map.numElements());
  }

  @Override
  public ColumnVector getChild(int i) {
    StructType structs = (StructType) type;
    return new OfStructs(structs.fields()[i].dataType(), this, structs.length(), i);
  }
}
