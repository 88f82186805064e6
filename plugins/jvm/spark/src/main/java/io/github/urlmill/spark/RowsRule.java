package io.github.urlmill.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.ColumnarRule;
import org.apache.spark.sql.execution.RowToColumnarExec;
import org.apache.spark.sql.execution.SparkPlan;

/** Takes away the copying of rows into columns that Spark puts below {@link UrlEvalExec}, which takes rows as they are. */
final class RowsRule extends ColumnarRule {
  @Override
  public Rule<SparkPlan> postColumnarTransitions() {
    return new Rule<SparkPlan>() {
      @Override
      public SparkPlan apply(SparkPlan plan) {
        return taken(plan);
      }
    };
  }

  private static SparkPlan taken(SparkPlan plan) {
    List<SparkPlan> now = new ArrayList<>();
    boolean other = false;
    for (SparkPlan child : Lists.java(plan.children())) {
      SparkPlan below = plan instanceof UrlEvalExec && child instanceof RowToColumnarExec ? ((RowToColumnarExec) child).child() : child;
      now.add(taken(below));
      other |= now.get(now.size() - 1) != child;
    }
    return other ? plan.withNewChildren(Lists.scala(now)) : plan;
  }
}
