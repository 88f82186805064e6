package io.github.urlmill;

import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A set of columns to make of URLs, for any number of threads. Those with the same options are the same object; one that nobody uses
 * any more is freed, but for the last few.
 */
public final class Processor {
  private static final int KEPT = 16;
  private static final Map<String, WeakReference<Processor>> all = new HashMap<>();
  private static final Map<String, Processor> latest = new LinkedHashMap<String, Processor>(KEPT, 0.75f, true) {
    private static final long serialVersionUID = 1;

    @Override
    protected boolean removeEldestEntry(Map.Entry<String, Processor> eldest) {
      return size() > KEPT;
    }
  };

  private final String options;
  private final boolean bases;
  private final long address;
  private final Field root;

  private Processor(String options, boolean bases) {
    this.options = options;
    this.bases = bases;
    this.address = Native.open(options.getBytes(StandardCharsets.UTF_8), bases);
    this.root = Field.read(new String(Native.schema(address), StandardCharsets.UTF_8));
  }

  /**
   * Returns a processor.
   *
   * @param options a JSON object as {@code urlmill_processor_new} takes it; see {@link Options}
   * @param bases whether every row has a base URL. The columns are called url and base then
   * @throws UrlmillException if the library cannot be loaded, or refuses the options
   */
  public static Processor of(String options, boolean bases) {
    Library.load();
    String key = (bases ? "bases " : "") + options;
    synchronized (all) {
      Reaper.reap();
      WeakReference<Processor> known = all.get(key);
      Processor p = known == null ? null : known.get();
      if (p == null) {
        p = new Processor(options, bases);
        new Reaper(p, p.address, Native::close);
        all.values().removeIf(r -> r.get() == null);
        all.put(key, new WeakReference<>(p));
      }
      latest.put(key, p);
      return p;
    }
  }

  /** Returns the columns that are made, in their order. */
  public List<Field> fields() {
    return root.children();
  }

  Field root() {
    return root;
  }

  /**
   * Parses a batch. The texts have to stay as they are until the result is closed.
   *
   * @param bases base URLs, of as many rows; null if the processor has none
   * @throws TooLargeException if a column made would be larger than 2 GiB
   */
  public Batch parse(Texts urls, Texts bases) {
    if ((bases != null) != this.bases) {
      throw new IllegalArgumentException(this.bases ? "there are no bases" : "the processor takes no bases");
    }
    if (bases != null && bases.rows() != urls.rows()) {
      throw new IllegalArgumentException(urls.rows() + " URLs and " + bases.rows() + " bases");
    }
    long[] in = new long[bases == null ? 5 : 10];
    urls.describe(in, 0);
    if (bases != null) {
      bases.describe(in, 5);
    }
    long[] nodes = new long[root.nodes() * Batch.NODE];
    return new Batch(this, Native.parse(address, in, nodes), nodes);
  }

  @Override
  public String toString() {
    return options;
  }
}
