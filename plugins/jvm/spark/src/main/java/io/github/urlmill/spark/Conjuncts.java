package io.github.urlmill.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/** A filter in two: what needs no call filters first. */
final class Conjuncts {
  final LogicalPlan below;
  final Filter above;

  private Conjuncts(LogicalPlan below, Filter above) {
    this.below = below;
    this.above = above;
  }

  static Conjuncts of(Filter filter, LogicalPlan child) {
    List<Expression> first = new ArrayList<>();
    List<Expression> second = new ArrayList<>();
    split(filter.condition(), first, second);
    if (first.isEmpty() || !filter.condition().deterministic()) {
      return new Conjuncts(child, filter);
    }
    return new Conjuncts(new Filter(all(first), child), new Filter(all(second), child));
  }

  private static void split(Expression e, List<Expression> first, List<Expression> second) {
    if (e instanceof And) {
      split(((And) e).left(), first, second);
      split(((And) e).right(), first, second);
    } else {
      (Calls.has(e) ? second : first).add(e);
    }
  }

  private static Expression all(List<Expression> parts) {
    Expression all = parts.get(0);
    for (Expression e : parts.subList(1, parts.size())) {
      all = new And(all, e);
    }
    return all;
  }
}
