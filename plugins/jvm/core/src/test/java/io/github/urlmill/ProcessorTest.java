package io.github.urlmill;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Batches of every size, threads, memory, and the JVM's own signals beside Go's. */
class ProcessorTest {
  static void add(Texts to, String text) {
    if (text == null) {
      to.addNull();
      return;
    }
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    to.add(bytes, 0, bytes.length);
  }

  private static final Options HOST_AND_PATH = new Options().column("host").column("path");

  @Test
  void sizes() {
    Processor p = HOST_AND_PATH.processor();
    try (Texts urls = new Texts()) {
      for (int rows : new int[] {0, 1, 7, 8, 9, 1023, 1024, 1025, 70_000, 3}) {
        urls.clear();
        for (int i = 0; i < rows; i++) {
          add(urls, i % 5 == 3 ? null : "https://host" + i + ".example/" + i);
        }
        try (Batch b = p.parse(urls, null)) {
          assertEquals(rows, b.rows());
          for (int i = 0; i < rows; i++) {
            assertEquals(i % 5 == 3 ? null : "host" + i + ".example", b.column(0).text(i));
            assertEquals(i % 5 == 3 ? null : "/" + i, b.column(1).text(i));
          }
        }
      }
    }
  }

  @Test
  void optionsAreChecked() {
    UrlmillException e = assertThrows(UrlmillException.class, () -> new Options().column("hóst").processor());
    assertTrue(e.getMessage().contains("hóst"), e.getMessage());
    assertThrows(UrlmillException.class, () -> Processor.of("{", false));
    String psl = new Options().column("host").json("/nowhere/\"psl\" 😀");
    assertTrue(assertThrows(UrlmillException.class, () -> Processor.of(psl, false)).getMessage().contains("/nowhere/\"psl\" 😀"));
    assertSame(HOST_AND_PATH.processor(), new Options().column("host").column("path").processor());
    try (Texts urls = new Texts()) {
      assertThrows(IllegalArgumentException.class, () -> HOST_AND_PATH.processor().parse(urls, urls));
    }
  }

  @Test
  void parameters() {
    try (Texts urls = new Texts()) {
      add(urls, "http://a/?q=1&q=2&empty=&n%C3%A4me=v+w");
      Options o = new Options();
      String[] names = {"q", "empty", "näme", "none", "Q", "\"\\"};
      for (int i = 0; i < names.length; i++) {
        o.parameter(names[i], "p" + i);
      }
      try (Batch b = o.processor().parse(urls, null)) {
        String[] want = {"1", "", "v w", null, null, null};
        for (int i = 0; i < names.length; i++) {
          assertEquals(want[i], b.column(i).text(0), names[i]);
        }
      }
    }
  }

  @Test
  void texts() {
    try (Texts urls = new Texts()) {
      urls.add(new byte[Texts.MOST_BYTES - 1], 0, Texts.MOST_BYTES - 1);
      assertTrue(urls.fits(1) && !urls.fits(2));
      assertTrue(assertThrows(TooLargeException.class, () -> urls.reserve(2)).getMessage().contains("512 MiB"));
      assertTrue(urls.memory() >= Texts.MOST_BYTES);
      urls.clear();
      urls.clear(); // the next batch is small, as its predecessor
      assertTrue(urls.memory() < 1 << 20, "a large batch leaves " + urls.memory() + " bytes");
    }
  }

  @Test
  void tooManyRowsAreToldApart() {
    try (Texts urls = new Texts()) {
      for (int i = 0; i <= 64 << 20; i++) {
        urls.addNull();
      }
      assertThrows(TooLargeException.class, () -> HOST_AND_PATH.processor().parse(urls, null));
    }
  }

  @Test
  void processorsGoWhenNobodyUsesThem() throws Exception {
    for (int i = 0; i < 300; i++) {
      new Options().parameter("p" + i, "value").processor();
    }
    long alive = Long.MAX_VALUE;
    for (int i = 0; i < 100 && alive > 40; i++) {
      System.gc();
      Thread.sleep(20);
      new Options().parameter("again" + i % 2, "value").processor();
      alive = Library.alive();
    }
    assertTrue(alive <= 40, alive + " are left of 300");
  }

  /** Threads that come and go, with null checks and stack overflows that the JVM handles by signals, before and after calls of Go. */
  @Test
  void threadsAndSignals() throws Exception {
    Processor p = HOST_AND_PATH.processor();
    for (int turn = 0; turn < 10; turn++) {
      ExecutorService pool = Executors.newFixedThreadPool(8);
      List<Future<Integer>> done = new ArrayList<>();
      for (int t = 0; t < 8; t++) {
        Callable<Integer> work = () -> {
          int faults = 0;
          try (Texts urls = new Texts()) {
            for (int i = 0; i < 20; i++) {
              urls.clear();
              for (int row = 0; row < 2000; row++) {
                add(urls, "https://h" + row + ".example/" + i);
              }
              try (Batch b = p.parse(urls, null)) {
                assertEquals("h1999.example", b.column(0).text(1999));
                faults += nullPointer(i % 2 == 0 ? null : new int[1]);
                faults += i % 10 == 0 ? overflow() : 0;
                assertEquals("/" + i, b.column(1).text(7));
              }
            }
          }
          return faults;
        };
        done.add(pool.submit(work));
      }
      for (Future<Integer> f : done) {
        assertEquals(12, f.get());
      }
      pool.shutdown();
    }
  }

  private static int nullPointer(int[] a) {
    int faults = 0;
    for (int i = 0; i < 1000; i++) { // compiled, it is a read of address 0 that the JVM's handler turns into an exception
      try {
        faults += a[0];
      } catch (NullPointerException e) {
        faults = 1;
      }
    }
    return faults;
  }

  private static int overflow() {
    try {
      return deeper(1) > 0 ? 0 : 1;
    } catch (StackOverflowError e) {
      return 1;
    }
  }

  private static int deeper(int n) {
    return n + deeper(n + 1);
  }

  @Test
  void batchesThatNobodyClosesAreGivenBack() throws Exception {
    long before = Library.alive();
    for (int i = 0; i < 200; i++) {
      Texts urls = new Texts();
      add(urls, "https://h.example/" + i);
      HOST_AND_PATH.processor().parse(urls, null);
    }
    long alive = Long.MAX_VALUE;
    for (int i = 0; i < 100 && alive > before + 20; i++) {
      System.gc();
      Thread.sleep(20);
      HOST_AND_PATH.processor();
      alive = Library.alive();
    }
    assertTrue(alive <= before + 20, alive + " are left of 200");
  }

  @Test
  void batchesAreGivenBack() {
    Processor p = HOST_AND_PATH.processor();
    long before = Library.alive();
    try (Texts urls = new Texts()) {
      for (int i = 0; i < 5000; i++) {
        add(urls, "https://h.example/" + i);
      }
      Batch b = p.parse(urls, null);
      assertTrue(Library.alive() > before);
      b.close();
      b.close();
      assertEquals(before, Library.alive());
      assertNull(b.column(0).field().children().isEmpty() ? null : "children");
    }
  }
}
