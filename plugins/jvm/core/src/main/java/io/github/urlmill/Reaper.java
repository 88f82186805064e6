package io.github.urlmill;

import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.Collections;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongConsumer;

/**
 * Frees what an object has outside of the heap: when that is asked for, else some time after nobody can reach the object any more, as
 * after a task that was killed while another thread was reading.
 */
final class Reaper extends PhantomReference<Object> {
  private static final ReferenceQueue<Object> unreachable = new ReferenceQueue<>();
  private static final Set<Reaper> all = Collections.newSetFromMap(new ConcurrentHashMap<>());

  private final LongConsumer how;
  private long address;

  /** Makes one for what an object has at an address. The consumer must not refer to the object. */
  Reaper(Object of, long address, LongConsumer how) {
    super(of, unreachable);
    this.address = address;
    this.how = how;
    all.add(this);
    reap();
  }

  /** Replaces the address, when memory has moved. */
  synchronized void moved(long to) {
    address = to;
  }

  /** Frees it. The second call does nothing. */
  synchronized void free() {
    long had = address;
    address = 0;
    if (had != 0) {
      how.accept(had);
    }
    all.remove(this);
  }

  /** Frees what belonged to objects that are gone. */
  static void reap() {
    for (Reference<?> r = unreachable.poll(); r != null; r = unreachable.poll()) {
      ((Reaper) r).free();
    }
  }
}
