package io.github.urlmill.spark;

import io.github.urlmill.Batch;
import io.github.urlmill.TooLargeException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * Batches with the columns of calls behind those that they had. A batch is valid until the next one is asked for, like those of Spark's own
 * readers. One that is too large for the library is gathered anew in halves. When the task ends, what is outside of the heap is freed: at once where the task's thread was the one that read, else by
 * that other thread at its next step, else by the garbage collector, so that nothing is read after it was freed.
 */
final class Batches extends AbstractIterator<ColumnarBatch> implements Tasks.Ended {
  private final UrlEvalExec.Work work;
  private final Iterator<ColumnarBatch> in;
  private final Gathered gathered; // null where columns come in
  private final List<Group> groups = new ArrayList<>();
  private final List<Batch> open = new ArrayList<>();
  private final Deque<Gathered> halves = new ArrayDeque<>(); // of a batch that was too large; the first is of the last one halved
  private long peak;
  private volatile boolean ended;
  private volatile Thread reader;

  /** The calls that are one parse. */
  private static final class Group {
    final Parsing parsing;
    final int[] arguments;
    final int[] calls; // which of the work's

    Group(UrlEvalExec.Work work, List<Integer> calls) {
      List<Wanted> wanted = new ArrayList<>();
      calls.forEach(i -> wanted.add(work.wanted.get(i)));
      this.calls = calls.stream().mapToInt(i -> i).toArray();
      arguments = work.arguments.get(calls.get(0));
      parsing = new Parsing(wanted, arguments.length == 2);
    }
  }

  Batches(UrlEvalExec.Work work, Iterator<ColumnarBatch> in, Gathered gathered) {
    this.work = work;
    this.in = in;
    this.gathered = gathered;
    Map<String, List<Integer>> alike = new LinkedHashMap<>();
    for (int i = 0; i < work.wanted.size(); i++) {
      alike.computeIfAbsent(Arrays.toString(work.arguments.get(i)) + form(i), key -> new ArrayList<>()).add(i);
    }
    alike.values().forEach(calls -> groups.add(new Group(work, calls)));
    Tasks.closeWith(this);
  }

  /** Returns what keeps a call from the parse of others with the same arguments: a form, of which a parse has one. */
  private String form(int call) {
    Wanted w = work.wanted.get(call);
    if (w.kind() == Wanted.Kind.CANONICAL) {
      return w.name();
    }
    for (int i = 0; i < work.wanted.size(); i++) { // goes along with the first form of the same arguments
      if (work.wanted.get(i).kind() == Wanted.Kind.CANONICAL && Arrays.equals(work.arguments.get(i), work.arguments.get(call))) {
        return work.wanted.get(i).name();
      }
    }
    return "";
  }

  @Override
  public boolean hasNext() {
    reader = Thread.currentThread();
    if (ended) {
      close();
      return false;
    }
    while (!halves.isEmpty()) {
      if (halves.peek().hasNext()) {
        return true;
      }
      halves.pop().close();
    }
    if (in.hasNext()) {
      return true;
    }
    close();
    return false;
  }

  @Override
  public ColumnarBatch next() {
    reader = Thread.currentThread();
    while (true) {
      release();
      ColumnarBatch given = halves.isEmpty() ? in.next() : halves.peek().next();
      try {
        return parsed(given);
      } catch (TooLargeException e) {
        halves.push(new Gathered(work.types, Lists.scala(given.rowIterator()), (given.numRows() + 1) / 2));
      }
    }
  }

  /** Returns a batch with the columns of the calls. */
  private ColumnarBatch parsed(ColumnarBatch given) {
    int rows = given.numRows();
    ColumnVector[] columns = new ColumnVector[work.types.length + work.wanted.size()];
    for (int i = 0; i < work.types.length; i++) {
      columns[i] = given.column(i);
    }
    long memory = gathered == null ? 0 : gathered.memory();
    for (Gathered half : halves) {
      memory += half.memory();
    }
    for (Group group : groups) {
      try {
        parse(group, columns, rows);
      } catch (TooLargeException e) {
        if (rows > 1) {
          throw e;
        }
        for (int call : group.calls) {
          columns[work.types.length + call] = TooLarge.column(work.wanted.get(call));
        }
      }
      memory += group.parsing.memory();
    }
    if (memory > peak) {
      work.memory.add(memory - peak);
      peak = memory;
    }
    work.rows.add(rows);
    work.batches.add(1);
    return new ColumnarBatch(columns, rows);
  }

  private void parse(Group group, ColumnVector[] columns, int rows) {
    Parsing parsing = group.parsing;
    parsing.clear();
    parsing.urls().addAll(columns[group.arguments[0]], rows);
    if (group.arguments.length == 2) {
      parsing.bases().addAll(columns[group.arguments[1]], rows);
    }
    long before = System.nanoTime();
    Batch batch = parsing.parse();
    work.time.add(System.nanoTime() - before);
    work.bytes.add(parsing.urls().texts().size());
    open.add(batch);
    for (int i = 0; i < group.calls.length; i++) {
      columns[work.types.length + group.calls[i]] = parsing.column(batch, i);
    }
  }

  private void release() {
    open.forEach(Batch::close);
    open.clear();
  }

  private void close() {
    release();
    groups.forEach(group -> group.parsing.close());
    halves.forEach(Gathered::close);
    halves.clear();
    if (gathered != null) {
      gathered.close();
    }
  }

  @Override
  public void taskEnded() {
    ended = true;
    Thread last = reader;
    if (last == null || last == Thread.currentThread()) {
      close();
    }
  }
}
