package io.github.urlmill;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where the library does not fit, what is said. */
class LibraryTest {
  // of the text "abc", from FIPS 180-4
  private static final String ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

  private static void refused(String want, String os, String arch, String mapped) {
    UrlmillException e = assertThrows(UrlmillException.class, () -> Library.platform(os, arch, mapped));
    assertTrue(e.getMessage().contains(want), e.getMessage());
  }

  @Test
  void platforms() {
    assertEquals("linux-amd64", Library.platform("Linux", "amd64", "/lib/x86_64-linux-gnu/libc.so.6"));
    assertEquals("linux-amd64", Library.platform("Linux", "x86_64", ""));
    assertEquals("linux-arm64", Library.platform("Linux", "aarch64", ""));
    refused("for Mac OS X on aarch64: the jar has those for Linux", "Mac OS X", "aarch64", "");
    refused("for Linux on s390x", "Linux", "s390x", "");
    refused("needs glibc 2.17", "Linux", "amd64", "7f0 r-xp /lib/ld-musl-x86_64.so.1\n");
  }

  @Test
  void unpackedForThisUserAlone(@TempDir Path temporary) throws IOException {
    Library.unpacked(new ByteArrayInputStream("abc".getBytes("US-ASCII")), ABC, temporary, file -> {
      try {
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file.getParent())));
        assertEquals(3, Files.size(file));
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    });
    nothingLeft(temporary);
  }

  @Test
  void damaged(@TempDir Path temporary) throws IOException {
    UrlmillException e = assertThrows(UrlmillException.class,
        () -> Library.unpacked(new ByteArrayInputStream("abd".getBytes("US-ASCII")), ABC, temporary, file -> {
          throw new AssertionError("a damaged library is loaded");
        }));
    assertTrue(e.getMessage().contains("damaged"), e.getMessage());
    nothingLeft(temporary);
  }

  private static void nothingLeft(Path folder) throws IOException {
    try (Stream<Path> left = Files.list(folder)) {
      assertEquals(0, left.count());
    }
  }

  @Test
  void aLinkersWords(@TempDir Path temporary) throws IOException {
    String noexec = Library.unlinked("x.so: failed to map segment from shared object", temporary);
    assertTrue(noexec.contains(temporary + " is mounted noexec: -Durlmill.tmpdir"), noexec);
    String old = Library.unlinked("/lib64/libc.so.6: version `GLIBC_2.17' not found", temporary);
    assertTrue(old.endsWith("it needs glibc 2.17 or newer"), old);
    Path text = Files.write(temporary.resolve("x.so"), new byte[] {1, 2, 3});
    UnsatisfiedLinkError e = assertThrows(UnsatisfiedLinkError.class, () -> System.load(text.toString()));
    assertTrue(Library.unlinked(e.getMessage(), temporary).startsWith("urlmill: the native library cannot be loaded: "));
  }

  @Test
  void loadsAndLeavesNothing() throws IOException {
    assertTrue(Library.version().contains("\"abi\":1"), Library.version());
    Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
    String maps = String.join("\n", Files.readAllLines(Path.of("/proc/self/maps")));
    assertTrue(maps.contains("liburlmill_jni.so (deleted)"), "the library is not mapped, or its file is left");
    assertTrue(maps.contains(temporary + "/urlmill-"), "it was not unpacked into " + temporary);
  }
}
