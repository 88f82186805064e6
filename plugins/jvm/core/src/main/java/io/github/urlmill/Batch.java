package io.github.urlmill;

/** What became of a batch of URLs: a column for each that the processor makes, with the rows of the input, in order. Close it. */
public final class Batch implements AutoCloseable {
  static final int NODE = 6; // longs that describe a node of a column

  private final Processor processor; // which must not be closed before
  private final Column root;
  private final Reaper array;

  Batch(Processor processor, long array, long[] nodes) {
    this.processor = processor;
    this.array = new Reaper(this, array, Native::release);
    this.root = Column.read(processor.root(), nodes);
  }

  /** Returns the number of rows. */
  public int rows() {
    return root.rows();
  }

  /** Returns a column by its place in {@link Processor#fields}. */
  public Column column(int i) {
    return root.children().get(i);
  }

  /** Gives the memory back. The columns are not to be read any more. */
  @Override
  public void close() {
    array.free();
  }

  @Override
  public String toString() {
    return rows() + " rows of " + processor;
  }
}
