package io.github.urlmill.spark;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Expand;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Generate;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.catalyst.plans.logical.Window;
import org.apache.spark.sql.catalyst.rules.Rule;

/**
 * Takes calls of functions of URLs out of expressions: below the plan that has them comes a {@link UrlEval} that makes a column of each, for
 * all calls together. It runs once, after Spark has pushed filters and columns down and before these reach the sources.
 *
 * <p>Between it and the source there is a projection to the columns that are needed, which sources take for their own. Parts of a filter without
 * calls stay below.
 */
final class ExtractUrls extends Rule<LogicalPlan> {
  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    return rewritten(new StructParts().apply(plan), null);
  }

  /** Rewrites a plan, of which columns that are not in needed are not read above; null: all of them may be. */
  private LogicalPlan rewritten(LogicalPlan plan, AttributeSet needed) {
    AttributeSet below = null;
    if (plan instanceof Project || plan instanceof Aggregate) {
      below = plan.references();
    } else if (plan instanceof Filter && needed != null) {
      below = needed.$plus$plus(plan.references());
    }
    List<LogicalPlan> now = new ArrayList<>();
    boolean other = false;
    for (LogicalPlan child : Lists.java(plan.children())) {
      LogicalPlan of = rewritten(child, below);
      other |= of != child;
      now.add(of);
    }
    LogicalPlan with = other ? plan.withNewChildren(Lists.<LogicalPlan>scala(now)) : plan;
    return takesCalls(with) ? extracted(with, needed) : with;
  }

  private static boolean takesCalls(LogicalPlan plan) {
    return plan instanceof Project || plan instanceof Filter || plan instanceof Aggregate || plan instanceof Sort || plan instanceof Window
        || plan instanceof Generate || plan instanceof Join || plan instanceof Expand;
  }

  private static boolean passesColumns(LogicalPlan plan) {
    return !(plan instanceof Project || plan instanceof Aggregate || plan instanceof Expand);
  }

  private LogicalPlan extracted(LogicalPlan plan, AttributeSet needed) {
    Calls calls = Calls.of(plan);
    if (calls.isEmpty()) {
      return plan;
    }
    List<LogicalPlan> children = new ArrayList<>();
    Map<UrlCall, Attribute> replaced = new LinkedHashMap<>();
    LogicalPlan rest = plan;
    for (LogicalPlan child : Lists.java(plan.children())) {
      List<UrlCall> mine = calls.of(child.outputSet());
      mine.removeAll(replaced.keySet());
      if (mine.isEmpty()) {
        children.add(child);
        continue;
      }
      if (plan instanceof Filter) {
        Conjuncts conjuncts = Conjuncts.of((Filter) plan, child);
        child = conjuncts.below;
        rest = conjuncts.above;
      }
      LogicalPlan merged = Merge.into(child, mine, replaced);
      children.add(merged != null ? merged : evaluated(plan, child, mine, needed, replaced));
    }
    if (replaced.isEmpty()) {
      return plan;
    }
    LogicalPlan with = rest.withNewChildren(Lists.<LogicalPlan>scala(children));
    with = Calls.replaced(with, replaced);
    return passesColumns(plan) ? projected(with, plan, needed) : with;
  }

  /** Returns the plan without the columns that calls have added. */
  private static LogicalPlan projected(LogicalPlan with, LogicalPlan before, AttributeSet needed) {
    List<NamedExpression> columns = new ArrayList<>();
    for (Attribute a : Lists.java(before.output())) {
      if (needed == null || needed.contains(a)) {
        columns.add(a);
      }
    }
    return new Project(Lists.<NamedExpression>scala(columns), with);
  }

  /** Returns child with the calls evaluated, and puts into replaced which attribute has which. */
  private LogicalPlan evaluated(LogicalPlan plan, LogicalPlan child, List<UrlCall> calls, AttributeSet needed, Map<UrlCall, Attribute> replaced) {
    Map<Expression, Attribute> inputs = new LinkedHashMap<>(); // arguments that are no columns yet
    List<NamedExpression> columns = new ArrayList<>();
    List<Alias> made = new ArrayList<>();
    for (UrlCall call : calls) {
      List<Attribute> arguments = new ArrayList<>();
      for (Expression e : call.arguments()) {
        if (e instanceof Attribute) {
          arguments.add((Attribute) e);
          continue;
        }
        arguments.add(inputs.computeIfAbsent(e.canonicalized(), key -> {
          Alias alias = Aliases.of(e, "url");
          columns.add(alias);
          return alias.toAttribute();
        }));
      }
      Alias alias = Aliases.of(call.with(arguments), call.prettyName());
      made.add(alias);
      replaced.put(call, alias.toAttribute());
    }
    AttributeSet kept = null;
    if (!passesColumns(plan)) {
      kept = plan.references();
    } else if (needed != null && plan instanceof Filter) {
      kept = needed.$plus$plus(plan.references());
    }
    List<NamedExpression> through = new ArrayList<>();
    for (Attribute a : Lists.java(child.output())) {
      if (kept == null || kept.contains(a)) {
        through.add(a);
      }
    }
    boolean all = through.size() == Lists.java(child.output()).size();
    through.addAll(columns);
    LogicalPlan below = all && columns.isEmpty() ? child : new Project(Lists.<NamedExpression>scala(through), child);
    if (!columns.isEmpty()) {
      below = rewritten(below, null); // arguments may have calls of their own
    }
    for (Attribute a : Lists.java(below.output())) {
      if (!RowsVector.supports(a.dataType())) {
        replaced.keySet().removeAll(calls);
        return child;
      }
    }
    return new UrlEval(Lists.<Alias>scala(made), below);
  }
}
