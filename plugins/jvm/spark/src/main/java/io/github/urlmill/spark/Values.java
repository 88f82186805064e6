package io.github.urlmill.spark;

import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnVector;

/** Values of columns as copies on the heap. */
final class Values {
  private Values() {}

  static Object copy(ColumnVector from, DataType type, int row) {
    if (from.isNullAt(row)) {
      return null;
    }
    if (type instanceof BooleanType) {
      return from.getBoolean(row);
    }
    if (type instanceof IntegerType) {
      return from.getInt(row);
    }
    if (type instanceof StructType) {
      StructType fields = (StructType) type;
      Object[] values = new Object[fields.length()];
      for (int i = 0; i < values.length; i++) {
        values[i] = copy(from.getChild(i), fields.fields()[i].dataType(), row);
      }
      return new GenericInternalRow(values);
    }
    if (type instanceof ArrayType) {
      UrlVector list = (UrlVector) from;
      Object[] values = new Object[list.end(row) - list.begin(row)];
      for (int i = 0; i < values.length; i++) {
        values[i] = copy(list.getChild(0), ((ArrayType) type).elementType(), list.begin(row) + i);
      }
      return new GenericArrayData(values);
    }
    return from.getUTF8String(row).copy();
  }
}
