package io.github.urlmill;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Scanner;

/**
 * The native library of this jar, loaded once in a process.
 *
 * <p>It is unpacked into a folder that only this user can enter, compared with the SHA-256 that the jar has of it, loaded, and
 * deleted: Linux keeps what is mapped. The folder is made in the system property {@code urlmill.tmpdir}, else in {@code
 * java.io.tmpdir}.
 */
public final class Library {
  /** The version of the library's interface that this jar is for. */
  static final int ABI = 1;

  private static final String NAME = "liburlmill_jni.so";
  private static UrlmillException failed;
  private static boolean loaded;

  private Library() {}

  /**
   * Loads the library, if that has not been done.
   *
   * @throws UrlmillException which says why it cannot be loaded here and what to do, the same each time
   */
  public static synchronized void load() {
    if (loaded) {
      return;
    }
    if (failed != null) {
      throw new UrlmillException(failed.getMessage(), failed);
    }
    try {
      String platform = platform(System.getProperty("os.name"), System.getProperty("os.arch"), mapped());
      load(resource(platform), temporary());
      if (Native.abi() != ABI) {
        throw new UrlmillException("urlmill: the native library has interface " + Native.abi() + ", and this jar is for " + ABI
            + ": another copy of urlmill is loaded in this JVM");
      }
      loaded = true;
    } catch (UrlmillException e) {
      failed = e;
      throw e;
    }
  }

  /** Returns the versions of urlmill, of its list of public suffixes, of Unicode and of Go, as a JSON object. */
  public static String version() {
    load();
    return new String(Native.version(), StandardCharsets.UTF_8);
  }

  /** Returns how many processors and batches the library has given out and that have not been released. */
  public static long alive() {
    load();
    return Native.alive();
  }

  /** Returns the name of the folder with the library for a machine. */
  static String platform(String os, String arch, String mapped) {
    String machine = arch.toLowerCase(Locale.ROOT);
    if (machine.equals("x86_64")) {
      machine = "amd64";
    } else if (machine.equals("arm64")) {
      machine = "aarch64";
    }
    if (!os.equals("Linux") || !(machine.equals("amd64") || machine.equals("aarch64"))) {
      throw new UrlmillException("urlmill: there is no native library for " + os + " on " + arch
          + ": the jar has those for Linux on amd64 and arm64");
    }
    if (mapped.contains("/ld-musl-") || mapped.contains("/libc.musl-")) {
      throw new UrlmillException("urlmill: this JVM runs on musl (Alpine), and the native library needs glibc 2.17 or newer:"
          + " use an image of Debian, Ubuntu, Red Hat or Amazon Linux");
    }
    return machine.equals("amd64") ? "linux-amd64" : "linux-arm64";
  }

  /** Returns what files this process has mapped, "" where that cannot be known. */
  private static String mapped() {
    try {
      return new String(Files.readAllBytes(Paths.get("/proc/self/maps")), StandardCharsets.UTF_8);
    } catch (IOException e) {
      return "";
    }
  }

  private static String resource(String platform) {
    return "/io/github/urlmill/native/" + platform + "/" + NAME;
  }

  private static Path temporary() {
    return Paths.get(System.getProperty("urlmill.tmpdir", System.getProperty("java.io.tmpdir")));
  }

  private static void load(String resource, Path temporary) {
    try (InputStream sum = Library.class.getResourceAsStream(resource + ".sha256");
        InputStream library = Library.class.getResourceAsStream(resource)) {
      if (sum == null || library == null) {
        throw new UrlmillException("urlmill: the jar lacks " + resource + ": it was built for another platform");
      }
      String want = new Scanner(sum, "US-ASCII").next();
      unpacked(library, want, temporary, file -> System.load(file.toString()));
    } catch (IOException e) {
      throw new UrlmillException("urlmill: the native library cannot be unpacked into " + temporary + ": " + e
          + "; -Durlmill.tmpdir=FOLDER names another folder", e);
    } catch (UnsatisfiedLinkError e) {
      throw new UrlmillException(unlinked(e.getMessage(), temporary), e);
    }
  }

  /** Says what the dynamic linker's words mean. */
  static String unlinked(String text, Path temporary) {
    String why = "urlmill: the native library cannot be loaded: " + text;
    if (text.contains("GLIBC_") || text.contains("ld-linux") || text.contains("libc.so.6")) {
      return why + "; it needs glibc 2.17 or newer";
    }
    if (text.contains("failed to map segment") || text.contains("not permitted")) {
      return why + "; " + temporary + " is mounted noexec: -Durlmill.tmpdir=FOLDER names another folder";
    }
    return why;
  }

  /** What is done with the unpacked file. */
  interface Use {
    void accept(Path file);
  }

  /** Copies a library into a new folder below temporary, compares its SHA-256, uses it, and deletes both. */
  static void unpacked(InputStream library, String want, Path temporary, Use use) throws IOException {
    Path folder = Files.createTempDirectory(temporary, "urlmill-", PosixFilePermissions.asFileAttribute(EnumSet.of(
        PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE)));
    Path file = folder.resolve(NAME);
    try {
      Files.copy(library, file);
      String got = sha256(file);
      if (!got.equals(want)) {
        throw new UrlmillException("urlmill: " + file + " has the SHA-256 " + got + ", and the jar says " + want
            + ": the jar or the disk is damaged");
      }
      use.accept(file);
    } finally {
      Files.deleteIfExists(file);
      Files.deleteIfExists(folder);
    }
  }

  private static String sha256(Path file) throws IOException {
    try {
      StringBuilder hex = new StringBuilder();
      for (byte b : MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file))) {
        hex.append(String.format("%02x", b));
      }
      return hex.toString();
    } catch (NoSuchAlgorithmException e) {
      throw new IOException(e);
    }
  }
}
