package io.github.urlmill;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A column of texts in UTF-8, in memory outside of the heap that is used again from batch to batch. It belongs to one thread at a
 * time, and {@link #close} frees it.
 */
public final class Texts implements AutoCloseable {
  /** How many bytes a column may have, as the library says of an array. */
  public static final int MOST_BYTES = 512 << 20;

  private static final int KEPT = 8 << 20; // a column that was larger than this and than 8 times its successor is freed

  private final Memory bytes = new Memory();
  private final Memory offsets = new Memory();
  private final Memory validity = new Memory();
  private int rows;
  private int nulls;
  private int size;

  /** Makes an empty column. */
  public Texts() {
    Library.load();
  }

  /** Empties the column. What was parsed of it has to be closed before. */
  public void clear() {
    if (bytes.capacity > KEPT && bytes.capacity / 8 > size) {
      bytes.close();
    }
    rows = 0;
    nulls = 0;
    size = 0;
  }

  /** Returns how many rows there are. */
  public int rows() {
    return rows;
  }

  /** Returns how many bytes the texts have. */
  public int size() {
    return size;
  }

  /** Returns whether a text of so many bytes still fits. */
  public boolean fits(int length) {
    return length <= MOST_BYTES - size;
  }

  /**
   * Appends a row of so many bytes, and returns the address where the caller writes them before the next call.
   *
   * @throws TooLargeException if the column has no room, see {@link #fits}
   * @throws UrlmillException if there is no memory
   */
  public long reserve(int length) {
    if (!fits(length)) {
      throw new TooLargeException("urlmill: a batch has more than 512 MiB of URLs");
    }
    long at = bytes.reserve((long) size + length) + size;
    row(true, length);
    return at;
  }

  /** Appends a row. */
  public void add(byte[] text, int from, int length) {
    int at = size;
    reserve(length);
    bytes.view.position(at);
    bytes.view.put(text, from, length);
  }

  /** Appends a row without a value. */
  public void addNull() {
    row(false, 0);
  }

  private void row(boolean valid, int length) {
    offsets.reserve((rows + 2) * 4L);
    if (rows == 0) {
      offsets.view.putInt(0, 0);
    }
    size += length;
    offsets.view.putInt((rows + 1) * 4, size);
    if (!valid && nulls == 0) {
      allValid();
    }
    if (!valid || nulls > 0) {
      validity.reserve(rows / 8 + 1);
      int bits = rows % 8 == 0 ? 0 : validity.view.get(rows / 8);
      validity.view.put(rows / 8, (byte) (valid ? bits | 1 << rows % 8 : bits & ~(1 << rows % 8)));
    }
    nulls += valid ? 0 : 1;
    rows++;
  }

  private void allValid() {
    validity.reserve(rows / 8 + 1);
    for (int i = 0; i <= rows / 8; i++) {
      validity.view.put(i, (byte) -1);
    }
  }

  /** Returns the address of the bitmap of rows with a value, 0 if all have one. */
  public long validity() {
    return nulls == 0 ? 0 : validity.address;
  }

  /** Returns how much memory is held. */
  public long memory() {
    return bytes.capacity + offsets.capacity + validity.capacity;
  }

  /** Describes the column to the library. */
  void describe(long[] to, int at) {
    if (rows == 0) {
      offsets.reserve(4);
      offsets.view.putInt(0, 0);
    }
    bytes.reserve(size);
    to[at] = rows;
    to[at + 1] = nulls;
    to[at + 2] = validity.address;
    to[at + 3] = offsets.address;
    to[at + 4] = bytes.address;
  }

  /** Frees the memory. What was parsed of it has to be closed before. */
  @Override
  public void close() {
    clear();
    bytes.close();
    offsets.close();
    validity.close();
  }

  /** Memory of the C heap that grows. */
  private static final class Memory {
    private Reaper reaper; // null where there is no memory
    long address;
    long capacity;
    ByteBuffer view;

    /** Makes room for so many bytes, keeps what is there, and returns the address. */
    long reserve(long bytes) {
      if (bytes > capacity || address == 0) {
        grow(bytes);
      }
      return address;
    }

    private void grow(long bytes) {
      long wanted = Math.min(Math.max(bytes + bytes / 2, 1024), Integer.MAX_VALUE);
      long grown = Native.reallocate(address, wanted);
      if (grown == 0) {
        throw new UrlmillException("urlmill: out of memory for a batch of URLs, " + wanted + " bytes");
      }
      address = grown;
      if (reaper == null) {
        reaper = new Reaper(this, grown, Native::free);
      } else {
        reaper.moved(grown);
      }
      capacity = wanted;
      view = Native.view(grown, wanted).order(ByteOrder.nativeOrder());
    }

    void close() {
      if (reaper != null) {
        reaper.free();
        reaper = null;
      }
      address = 0;
      capacity = 0;
      view = null;
    }
  }
}
