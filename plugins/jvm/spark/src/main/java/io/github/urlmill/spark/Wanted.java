package io.github.urlmill.spark;

import io.github.urlmill.Options;
import java.io.Serializable;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** What a call wants of a URL: a column, a parameter, a canonical form, or all parts as a struct. */
final class Wanted implements Serializable {
  private static final long serialVersionUID = 1;

  /** What there is. */
  enum Kind { COLUMN, PARAMETER, CANONICAL, PARTS }

  private static final Map<String, DataType> COLUMNS = new LinkedHashMap<>();
  private static final StructType PARTS_TYPE;

  static {
    DataType text = DataTypes.StringType;
    DataType pair = new StructType().add("key", text, false).add("value", text, false);
    for (String name : new String[] {"href", "scheme", "has_username", "host", "port", "origin", "registrable_domain", "public_suffix", "path",
        "query", "params", "fragment", "url_error", "url_error_pos"}) {
      DataType type = name.equals("has_username") ? DataTypes.BooleanType
          : name.equals("port") || name.equals("url_error_pos") ? DataTypes.IntegerType
          : name.equals("params") ? DataTypes.createArrayType(pair, false)
          : text;
      COLUMNS.put(name, type);
    }
    StructType parts = new StructType();
    for (Map.Entry<String, DataType> column : COLUMNS.entrySet()) {
      parts = parts.add(column.getKey(), column.getValue(), true);
    }
    PARTS_TYPE = parts;
    COLUMNS.put("surt_key", text);
  }

  private final Kind kind;
  private final String name;

  private Wanted(Kind kind, String name) {
    this.kind = kind;
    this.name = name;
  }

  static Wanted column(String name) {
    if (!COLUMNS.containsKey(name)) {
      throw new IllegalArgumentException(name);
    }
    return new Wanted(Kind.COLUMN, name);
  }

  static Wanted parameter(String name) {
    return new Wanted(Kind.PARAMETER, name);
  }

  static Wanted canonical(String form) {
    return new Wanted(Kind.CANONICAL, form);
  }

  static Wanted parts() {
    return new Wanted(Kind.PARTS, "");
  }

  Kind kind() {
    return kind;
  }

  /** Returns the column, the parameter, or the form. */
  String name() {
    return name;
  }

  /** Returns a field of the struct by itself. */
  static Wanted part(int ordinal) {
    return column(PARTS_TYPE.fields()[ordinal].name());
  }

  DataType type() {
    switch (kind) {
      case COLUMN:
        return COLUMNS.get(name);
      case PARTS:
        return PARTS_TYPE;
      default:
        return DataTypes.StringType;
    }
  }

  /** Adds what is wanted to the columns of a processor; parameter is the name of the column for one. */
  void addTo(Options options, String parameter) {
    switch (kind) {
      case COLUMN:
        options.column(name);
        break;
      case PARAMETER:
        options.parameter(name, parameter);
        break;
      case CANONICAL:
        options.canonical(name);
        break;
      default:
        for (StructField field : PARTS_TYPE.fields()) {
          options.column(field.name());
        }
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Wanted && kind == ((Wanted) other).kind && name.equals(((Wanted) other).name);
  }

  @Override
  public int hashCode() {
    return Objects.hash(kind.name(), name);
  }

  @Override
  public String toString() {
    return kind == Kind.PARTS ? "parts" : kind == Kind.COLUMN ? name : kind.name().toLowerCase(java.util.Locale.ROOT) + " " + name;
  }
}
