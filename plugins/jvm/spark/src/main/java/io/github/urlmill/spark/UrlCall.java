package io.github.urlmill.spark;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.Seq;

/**
 * A function of a URL, and of its base if there is a second child. {@link ExtractUrls} takes calls out of expressions, to be parsed in
 * batches; where one stays, it is evaluated row by row, with the same values.
 */
public final class UrlCall extends Expression implements CodegenFallback, java.io.Serializable {
  private static final long serialVersionUID = 1;

  private final Seq<Expression> children;
  private final Wanted wanted;
  private final String name;
  private transient RowParser parser;

  UrlCall(List<Expression> children, Wanted wanted, String name) {
    this(Lists.scala(children), wanted, name);
  }

  /** As Spark makes a copy, with what {@link #productElement} gives. */
  public UrlCall(Seq<Expression> children, Object wanted, String name) {
    this.children = children;
    this.wanted = (Wanted) wanted;
    this.name = name;
  }

  Wanted wanted() {
    return wanted;
  }

  List<Expression> arguments() {
    return Lists.java(children);
  }

  /** Returns the call of the same arguments for a field of the struct. */
  UrlCall part(int ordinal) {
    return new UrlCall(children, Wanted.part(ordinal), name);
  }

  UrlCall with(List<? extends Expression> arguments) {
    return new UrlCall(Lists.<Expression>scala(arguments), wanted, name);
  }

  @Override
  public scala.collection.immutable.Seq<Expression> children() {
    return Lists.scala(Lists.java(children));
  }

  /** Scala 2.13's. */
  public Expression withNewChildrenInternal(scala.collection.immutable.IndexedSeq<Expression> now) {
    return with(Lists.java(now));
  }

  /** Scala 2.12's. */
  public Expression withNewChildrenInternal(scala.collection.IndexedSeq<Expression> now) {
    return with(Lists.java(now));
  }

  @Override
  public TypeCheckResult checkInputDataTypes() {
    for (Expression e : arguments()) {
      if (!(e.dataType() instanceof StringType)) {
        return new TypeCheckResult.TypeCheckFailure(name + " takes strings, not " + e.dataType().simpleString() + ": " + e.sql());
      }
    }
    return TypeCheckResult.TypeCheckSuccess$.MODULE$;
  }

  @Override
  public DataType dataType() {
    return wanted.type();
  }

  @Override
  public boolean nullable() {
    return true;
  }

  @Override
  public boolean foldable() {
    return arguments().stream().allMatch(Expression::foldable);
  }

  @Override
  public String prettyName() {
    return name;
  }

  @Override
  public synchronized Object eval(InternalRow input) {
    List<Expression> arguments = arguments();
    UTF8String url = (UTF8String) arguments.get(0).eval(input);
    if (url == null) {
      return null;
    }
    UTF8String base = arguments.size() == 1 ? null : (UTF8String) arguments.get(1).eval(input);
    if (TaskContext.get() == null) { // in the driver, where nothing says when it ends
      try (RowParser once = new RowParser(wanted, arguments.size() == 2)) {
        return once.parse(url, base);
      }
    }
    if (parser == null) {
      parser = new RowParser(wanted, arguments.size() == 2);
      Tasks.closeWith(parser);
    }
    return parser.parse(url, base);
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode code) {
    return CodegenFallback.super.doGenCode(context, code);
  }

  @Override
  public int productArity() {
    return 3;
  }

  @Override
  public Object productElement(int n) {
    return Arrays.asList(children, wanted, name).get(n);
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof UrlCall;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof UrlCall && wanted.equals(((UrlCall) other).wanted) && arguments().equals(((UrlCall) other).arguments());
  }

  @Override
  public int hashCode() {
    return 31 * wanted.hashCode() + arguments().hashCode();
  }

  @Override
  public String sql() {
    return text(Expression::sql);
  }

  @Override
  public String toString() {
    return text(Expression::toString);
  }

  private String text(java.util.function.Function<Expression, String> how) {
    List<String> given = arguments().stream().map(how).collect(java.util.stream.Collectors.toList());
    if (wanted.kind() == Wanted.Kind.PARAMETER || wanted.kind() == Wanted.Kind.CANONICAL) {
      given.add("'" + wanted.name().replace("'", "\\'") + "'");
    }
    String part = wanted.kind() == Wanted.Kind.COLUMN && name.equals("urlmill_parse") ? "." + wanted.name() : "";
    return name + "(" + String.join(", ", given) + ")" + part;
  }
}
