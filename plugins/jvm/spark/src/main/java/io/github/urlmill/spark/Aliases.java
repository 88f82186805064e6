package io.github.urlmill.spark;

import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import scala.Option;

/** Names for expressions, which Scala's default arguments make awkward. */
final class Aliases {
  private Aliases() {}

  static Alias of(Expression e, String name) {
    return of(e, name, NamedExpression.newExprId());
  }

  static Alias of(Expression e, String name, ExprId id) {
    return new Alias(e, name, id, Lists.of(), Option.empty(), Lists.of());
  }
}
