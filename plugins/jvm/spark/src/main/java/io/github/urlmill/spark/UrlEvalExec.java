package io.github.urlmill.spark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.execution.ColumnarToRowExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.execution.metric.SQLMetrics;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction1;

/**
 * The physical operator of {@link UrlEval}: columns of the library behind those of its child. Batches of columns go through as they are;
 * rows are gathered into batches.
 */
public final class UrlEvalExec extends SparkPlan {
  private static final long serialVersionUID = 1;

  private final Seq<Alias> calls;
  private final SparkPlan child;
  private transient scala.collection.immutable.Map<String, SQLMetric> metrics;

  /** Makes one, of aliases of {@link UrlCall} whose arguments are attributes of child. */
  public UrlEvalExec(Seq<Alias> calls, SparkPlan child) {
    this.calls = calls;
    this.child = child;
  }

  @Override
  public boolean supportsColumnar() {
    return true;
  }

  @Override
  public scala.collection.immutable.Seq<Attribute> output() {
    return Lists.scala(UrlEval.output(child.output(), calls));
  }

  @Override
  public Partitioning outputPartitioning() {
    return child.outputPartitioning();
  }

  @Override
  public scala.collection.immutable.Seq<SortOrder> outputOrdering() {
    return Lists.scala(Lists.java(child.outputOrdering()));
  }

  @Override
  public scala.collection.immutable.Map<String, SQLMetric> metrics() {
    if (metrics == null) {
      scala.collection.immutable.Map<String, SQLMetric> all = scala.collection.immutable.Map$.MODULE$.empty();
      all = plus(all, "numOutputRows", SQLMetrics.createMetric(sparkContext(), "number of output rows"));
      all = plus(all, "numBatches", SQLMetrics.createMetric(sparkContext(), "number of batches"));
      all = plus(all, "urlBytes", SQLMetrics.createSizeMetric(sparkContext(), "bytes of URLs", SQLMetrics.createSizeMetric$default$3()));
      all = plus(all, "peakMemory", SQLMetrics.createSizeMetric(sparkContext(), "peak memory for URLs, rows and columns", SQLMetrics.createSizeMetric$default$3()));
      all = plus(all, "parseTime", SQLMetrics.createNanoTimingMetric(sparkContext(), "time in liburlmill", SQLMetrics.createNanoTimingMetric$default$3()));
      metrics = all;
    }
    return metrics;
  }

  @SuppressWarnings("unchecked") // in Scala 2.13
  private static scala.collection.immutable.Map<String, SQLMetric> plus(
      scala.collection.immutable.Map<String, SQLMetric> all, String name, SQLMetric metric) {
    return all.$plus(new Tuple2<>(name, metric));
  }

  @Override
  public RDD<InternalRow> doExecute() {
    return new ColumnarToRowExec(this).execute();
  }

  @Override
  public RDD<ColumnarBatch> doExecuteColumnar() {
    Work work = new Work(Lists.java(calls), Lists.java(child.output()), metrics());
    ClassTag<ColumnarBatch> tag = ClassTag$.MODULE$.apply(ColumnarBatch.class);
    if (child.supportsColumnar()) {
      return child.executeColumnar().mapPartitions(new OfColumns(work), false, tag);
    }
    return child.execute().mapPartitions(new OfRows(work), false, tag);
  }

  /** What tasks are told. */
  static final class Work implements java.io.Serializable {
    private static final long serialVersionUID = 1;
    final List<Wanted> wanted = new ArrayList<>();
    final List<int[]> arguments = new ArrayList<>(); // ordinals of the child's columns
    final DataType[] types; // of the child's columns
    final SQLMetric rows;
    final SQLMetric batches;
    final SQLMetric bytes;
    final SQLMetric memory;
    final SQLMetric time;

    Work(List<Alias> calls, List<Attribute> given, scala.collection.immutable.Map<String, SQLMetric> metrics) {
      List<Object> ids = new ArrayList<>();
      given.forEach(a -> ids.add(a.exprId()));
      for (Alias alias : calls) {
        UrlCall call = (UrlCall) alias.child();
        wanted.add(call.wanted());
        arguments.add(call.arguments().stream().mapToInt(e -> ids.indexOf(((Attribute) e).exprId())).toArray());
      }
      types = given.stream().map(Attribute::dataType).toArray(DataType[]::new);
      rows = metrics.apply("numOutputRows");
      batches = metrics.apply("numBatches");
      bytes = metrics.apply("urlBytes");
      memory = metrics.apply("peakMemory");
      time = metrics.apply("parseTime");
    }
  }

  private static final class OfColumns extends AbstractFunction1<Iterator<ColumnarBatch>, Iterator<ColumnarBatch>> implements java.io.Serializable {
    private static final long serialVersionUID = 1;
    private final Work work;

    OfColumns(Work work) {
      this.work = work;
    }

    @Override
    public Iterator<ColumnarBatch> apply(Iterator<ColumnarBatch> in) {
      return new Batches(work, in, null);
    }
  }

  private static final class OfRows extends AbstractFunction1<Iterator<InternalRow>, Iterator<ColumnarBatch>> implements java.io.Serializable {
    private static final long serialVersionUID = 1;
    private final Work work;

    OfRows(Work work) {
      this.work = work;
    }

    @Override
    public Iterator<ColumnarBatch> apply(Iterator<InternalRow> in) {
      Gathered gathered = new Gathered(work.types, in, Gathered.ROWS);
      return new Batches(work, gathered, gathered);
    }
  }

  @Override
  public scala.collection.immutable.Seq<SparkPlan> children() {
    return Lists.of(child);
  }

  /** Scala 2.13's. */
  public SparkPlan withNewChildrenInternal(scala.collection.immutable.IndexedSeq<SparkPlan> now) {
    return new UrlEvalExec(calls, now.head());
  }

  /** Scala 2.12's. */
  public SparkPlan withNewChildrenInternal(scala.collection.IndexedSeq<SparkPlan> now) {
    return new UrlEvalExec(calls, now.head());
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
    return other instanceof UrlEvalExec;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof UrlEvalExec && Lists.java(calls).equals(Lists.java(((UrlEvalExec) other).calls)) && child.equals(((UrlEvalExec) other).child);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(new int[] {Lists.java(calls).hashCode(), child.hashCode()});
  }
}
