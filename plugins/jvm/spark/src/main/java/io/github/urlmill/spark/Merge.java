package io.github.urlmill.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;

/** Adds calls to a {@link UrlEval} that is already below, behind filters and projections of columns, so that a column is parsed once. */
final class Merge {
  private Merge() {}

  /** Returns the plan with all of the calls, or null if it has no place for them; replaced gets the attributes. */
  static LogicalPlan into(LogicalPlan plan, List<UrlCall> calls, Map<UrlCall, Attribute> replaced) {
    UrlEval there = place(plan);
    if (there == null) {
      return null;
    }
    for (UrlCall call : calls) {
      for (Expression e : call.arguments()) {
        if (!(e instanceof Attribute) || !there.child().outputSet().contains((Attribute) e)) {
          return null;
        }
      }
    }
    List<Alias> all = there.calls();
    List<Attribute> wanted = new ArrayList<>();
    for (UrlCall call : calls) {
      Alias same = null;
      for (Alias a : all) {
        same = same == null && a.child().semanticEquals(call) ? a : same;
      }
      if (same == null) {
        same = Aliases.of(call, call.prettyName());
        all.add(same);
      }
      wanted.add(same.toAttribute());
      replaced.put(call, same.toAttribute());
    }
    return rebuilt(plan, new UrlEval(Lists.<Alias>scala(all), there.child()), wanted);
  }

  private static UrlEval place(LogicalPlan plan) {
    if (plan instanceof UrlEval) {
      return (UrlEval) plan;
    }
    if (plan instanceof Filter) {
      return place(((Filter) plan).child());
    }
    if (!(plan instanceof Project)) {
      return null;
    }
    for (NamedExpression e : Lists.java(((Project) plan).projectList())) {
      if (!(e instanceof Attribute)) {
        return null;
      }
    }
    return place(((Project) plan).child());
  }

  private static LogicalPlan rebuilt(LogicalPlan plan, UrlEval eval, List<Attribute> wanted) {
    if (plan instanceof UrlEval) {
      return eval;
    }
    if (plan instanceof Filter) {
      return new Filter(((Filter) plan).condition(), rebuilt(((Filter) plan).child(), eval, wanted));
    }
    Project project = (Project) plan;
    List<NamedExpression> columns = new ArrayList<>(Lists.java(project.projectList()));
    for (Attribute a : wanted) {
      if (!columns.contains(a)) {
        columns.add(a);
      }
    }
    return new Project(Lists.<NamedExpression>scala(columns), rebuilt(project.child(), eval, wanted));
  }
}
