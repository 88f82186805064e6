package io.github.urlmill.spark;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;

/** Plans {@link UrlEval}. */
final class UrlStrategy extends SparkStrategy {
  private static final long serialVersionUID = 1;

  @Override
  public scala.collection.immutable.Seq<SparkPlan> apply(LogicalPlan plan) {
    if (!(plan instanceof UrlEval)) {
      return Lists.of();
    }
    UrlEval eval = (UrlEval) plan;
    return Lists.of(new UrlEvalExec(Lists.scala(eval.calls()), planLater(eval.child())));
  }
}
