package io.github.urlmill.spark;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.unsafe.types.UTF8String;

/** The first value of a parameter whose name differs from row to row, in url_params. */
public final class ParameterOf extends Expression implements CodegenFallback, java.io.Serializable {
  private static final long serialVersionUID = 1;

  private final Expression params;
  private final Expression name;

  /** Makes one of url_params and a name. */
  public ParameterOf(Expression params, Expression name) {
    this.params = params;
    this.name = name;
  }

  @Override
  public scala.collection.immutable.Seq<Expression> children() {
    return Lists.of(params, name);
  }

  /** Scala 2.13's. */
  public Expression withNewChildrenInternal(scala.collection.immutable.IndexedSeq<Expression> now) {
    return new ParameterOf(now.head(), now.last());
  }

  /** Scala 2.12's. */
  public Expression withNewChildrenInternal(scala.collection.IndexedSeq<Expression> now) {
    return new ParameterOf(now.head(), now.last());
  }

  @Override
  public TypeCheckResult checkInputDataTypes() {
    return name.dataType() instanceof StringType ? TypeCheckResult.TypeCheckSuccess$.MODULE$
        : new TypeCheckResult.TypeCheckFailure("url_param takes the name of a parameter as a string, not " + name.dataType().simpleString());
  }

  @Override
  public DataType dataType() {
    return DataTypes.StringType;
  }

  @Override
  public boolean nullable() {
    return true;
  }

  @Override
  public String prettyName() {
    return "url_param";
  }

  @Override
  public Object eval(InternalRow input) {
    ArrayData pairs = (ArrayData) params.eval(input);
    UTF8String wanted = pairs == null ? null : (UTF8String) name.eval(input);
    for (int i = 0; wanted != null && i < pairs.numElements(); i++) {
      InternalRow pair = pairs.getStruct(i, 2);
      if (pair.getUTF8String(0).equals(wanted)) {
        return pair.getUTF8String(1);
      }
    }
    return null;
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode code) {
    return CodegenFallback.super.doGenCode(context, code);
  }

  @Override
  public int productArity() {
    return 2;
  }

  @Override
  public Object productElement(int n) {
    return n == 0 ? params : name;
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof ParameterOf;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ParameterOf && params.equals(((ParameterOf) other).params) && name.equals(((ParameterOf) other).name);
  }

  @Override
  public int hashCode() {
    return 31 * params.hashCode() + name.hashCode();
  }
}
