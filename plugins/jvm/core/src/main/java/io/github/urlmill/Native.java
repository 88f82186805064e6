package io.github.urlmill;

import java.nio.ByteBuffer;

/** The methods of core/src/main/c/jni.c. Addresses are of the C heap. {@link Library#load} comes first. */
final class Native {
  private Native() {}

  static native int abi();

  static native byte[] version();

  static native long alive();

  static native long open(byte[] options, boolean bases);

  static native void close(long processor);

  static native byte[] schema(long processor);

  static native long parse(long processor, long[] in, long[] nodes);

  static native void release(long array);

  static native long reallocate(long address, long bytes);

  static native void free(long address);

  static native ByteBuffer view(long address, long bytes);
}
