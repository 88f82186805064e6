package io.github.urlmill.spark;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.LambdaFunction;
import org.apache.spark.sql.catalyst.expressions.NamedLambdaVariable;
import org.apache.spark.sql.catalyst.expressions.OuterReference;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import scala.runtime.AbstractPartialFunction;

/** The calls in the expressions of a plan that can be evaluated below it: the outermost ones. Fields of a struct are calls of their own. */
final class Calls {
  private final Set<UrlCall> calls = new LinkedHashSet<>();

  static Calls of(LogicalPlan plan) {
    Calls found = new Calls();
    Lists.java(plan.expressions()).forEach(found::collect);
    return found;
  }

  static boolean has(Expression e) {
    Calls found = new Calls();
    found.collect(e);
    return !found.isEmpty();
  }

  boolean isEmpty() {
    return calls.isEmpty();
  }

  /** Returns those whose arguments a child has. */
  List<UrlCall> of(AttributeSet given) {
    List<UrlCall> some = new ArrayList<>();
    for (UrlCall call : calls) {
      if (call.references().subsetOf(given)) {
        some.add(call);
      }
    }
    return some;
  }

  private void collect(Expression e) {
    UrlCall call = asCall(e);
    if (call != null) {
      calls.add(call);
    } else if (!(e instanceof LambdaFunction) && !(e instanceof SubqueryExpression)) {
      Lists.java(e.children()).forEach(this::collect);
    }
  }

  /** Returns the call that an expression is, null if it is none that can be taken out. */
  static UrlCall asCall(Expression e) {
    if (e instanceof GetStructField && ((GetStructField) e).child() instanceof UrlCall) {
      UrlCall whole = (UrlCall) ((GetStructField) e).child();
      return whole.wanted().kind() == Wanted.Kind.PARTS && below(whole) ? whole.part(((GetStructField) e).ordinal()) : null;
    }
    return e instanceof UrlCall && below(e) ? (UrlCall) e : null;
  }

  private static boolean below(Expression e) {
    return e.deterministic() && !e.references().isEmpty() && plain(e);
  }

  private static boolean plain(Expression e) {
    if (e instanceof NamedLambdaVariable || e instanceof OuterReference || e instanceof SubqueryExpression) {
      return false;
    }
    for (Expression child : Lists.java(e.children())) {
      if (!plain(child)) {
        return false;
      }
    }
    return true;
  }

  /** Returns a plan that reads attributes in place of calls. */
  static LogicalPlan replaced(LogicalPlan plan, Map<UrlCall, Attribute> by) {
    return plan.transformExpressionsDown(new AbstractPartialFunction<Expression, Expression>() {
      @Override
      public boolean isDefinedAt(Expression e) {
        UrlCall call = asCall(e);
        return call != null && by.containsKey(call);
      }

      @Override
      public <A extends Expression, B> B applyOrElse(A e, scala.Function1<A, B> otherwise) {
        UrlCall call = asCall(e);
        @SuppressWarnings("unchecked")
        B found = call == null ? null : (B) by.get(call);
        return found != null ? found : otherwise.apply(e);
      }
    });
  }
}
