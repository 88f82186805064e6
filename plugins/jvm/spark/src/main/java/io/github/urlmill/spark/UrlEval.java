package io.github.urlmill.spark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import scala.collection.Seq;

/** A plan whose rows have what calls make of their URLs, behind their other columns. The arguments of the calls are attributes. */
public final class UrlEval extends LogicalPlan {
  private static final long serialVersionUID = 1;

  private final Seq<Alias> calls;
  private final LogicalPlan child;

  /** Makes one, of aliases of {@link UrlCall}. */
  public UrlEval(Seq<Alias> calls, LogicalPlan child) {
    this.calls = calls;
    this.child = child;
  }

  List<Alias> calls() {
    return Lists.java(calls);
  }

  LogicalPlan child() {
    return child;
  }

  static List<Attribute> output(Seq<Attribute> child, Seq<Alias> calls) {
    List<Attribute> output = new ArrayList<>(Lists.java(child));
    for (Alias call : Lists.java(calls)) {
      output.add(call.toAttribute());
    }
    return output;
  }

  @Override
  public scala.collection.immutable.Seq<Attribute> output() {
    return Lists.scala(output(child.output(), calls));
  }

  @Override
  public scala.collection.immutable.Seq<LogicalPlan> children() {
    return Lists.of(child);
  }

  /** Scala 2.13's. */
  public LogicalPlan withNewChildrenInternal(scala.collection.immutable.IndexedSeq<LogicalPlan> now) {
    return new UrlEval(calls, now.head());
  }

  /** Scala 2.12's. */
  public LogicalPlan withNewChildrenInternal(scala.collection.IndexedSeq<LogicalPlan> now) {
    return new UrlEval(calls, now.head());
  }

  @Override
  public int productArity() {
    return 2;
  }

  @Override
  public Object productElement(int n) {
    return n == 0 ? calls : child;
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof UrlEval;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof UrlEval && calls().equals(((UrlEval) other).calls()) && child.equals(((UrlEval) other).child);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(new int[] {calls().hashCode(), child.hashCode()});
  }
}
