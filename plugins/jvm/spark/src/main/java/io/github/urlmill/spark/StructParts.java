package io.github.urlmill.spark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.rules.Rule;
import scala.runtime.AbstractPartialFunction;

/**
 * Replaces structs of urlmill_parse of which a plan reads nothing but fields by those fields: {@code SELECT p.host, p.path FROM (SELECT
 * urlmill_parse(url) AS p ...)} makes two columns.
 */
final class StructParts extends Rule<LogicalPlan> {
  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    LogicalPlan now = parts(plan);
    List<LogicalPlan> children = new ArrayList<>();
    boolean other = false;
    for (LogicalPlan child : Lists.java(now.children())) {
      LogicalPlan of = apply(child);
      other |= of != child;
      children.add(of);
    }
    return other ? now.withNewChildren(Lists.<LogicalPlan>scala(children)) : now;
  }

  private static LogicalPlan parts(LogicalPlan plan) {
    if (!(plan instanceof Project || plan instanceof Aggregate) || !(plan.children().head() instanceof Project)) {
      return plan;
    }
    Project below = (Project) plan.children().head();
    Map<ExprId, Alias> structs = new HashMap<>();
    for (NamedExpression e : Lists.java(below.projectList())) {
      if (e instanceof Alias && ((Alias) e).child() instanceof UrlCall && ((UrlCall) ((Alias) e).child()).wanted().kind() == Wanted.Kind.PARTS) {
        structs.put(e.exprId(), (Alias) e);
      }
    }
    Map<ExprId, Map<Integer, Alias>> fields = new HashMap<>();
    Lists.java(plan.expressions()).forEach(e -> collect(e, structs, fields));
    fields.keySet().retainAll(structs.keySet());
    return fields.isEmpty() ? plan : replaced(plan, below, fields);
  }

  /** Finds the fields that are read, and takes structs that are read as a whole out of structs. */
  private static void collect(Expression e, Map<ExprId, Alias> structs, Map<ExprId, Map<Integer, Alias>> fields) {
    if (e instanceof GetStructField && ((GetStructField) e).child() instanceof Attribute) {
      ExprId id = ((Attribute) ((GetStructField) e).child()).exprId();
      int ordinal = ((GetStructField) e).ordinal();
      Alias struct = structs.get(id);
      if (struct != null) {
        UrlCall part = ((UrlCall) struct.child()).part(ordinal);
        fields.computeIfAbsent(id, key -> new LinkedHashMap<>()).computeIfAbsent(ordinal, key -> Aliases.of(part, part.wanted().name()));
      }
    } else if (e instanceof Attribute) {
      structs.remove(((Attribute) e).exprId());
    } else {
      Lists.java(e.children()).forEach(child -> collect(child, structs, fields));
    }
  }

  private static LogicalPlan replaced(LogicalPlan plan, Project below, Map<ExprId, Map<Integer, Alias>> fields) {
    List<NamedExpression> columns = new ArrayList<>();
    for (NamedExpression e : Lists.java(below.projectList())) {
      if (fields.containsKey(e.exprId())) {
        columns.addAll(fields.get(e.exprId()).values());
      } else {
        columns.add(e);
      }
    }
    LogicalPlan with = plan.withNewChildren(Lists.<LogicalPlan>of(new Project(Lists.<NamedExpression>scala(columns), below.child())));
    return with.transformExpressionsDown(new AbstractPartialFunction<Expression, Expression>() {
      private Attribute field(Expression e) {
        if (!(e instanceof GetStructField) || !(((GetStructField) e).child() instanceof Attribute)) {
          return null;
        }
        Map<Integer, Alias> of = fields.get(((Attribute) ((GetStructField) e).child()).exprId());
        return of == null ? null : of.get(((GetStructField) e).ordinal()).toAttribute();
      }

      @Override
      public boolean isDefinedAt(Expression e) {
        return field(e) != null;
      }

      @Override
      public <A extends Expression, B> B applyOrElse(A e, scala.Function1<A, B> otherwise) {
        @SuppressWarnings("unchecked")
        B found = (B) field(e);
        return found != null ? found : otherwise.apply(e);
      }
    });
  }
}
