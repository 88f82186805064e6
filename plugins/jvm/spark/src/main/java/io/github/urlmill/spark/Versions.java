package io.github.urlmill.spark;

import io.github.urlmill.UrlmillException;
import java.lang.reflect.Method;
import java.util.Arrays;

/** The versions of Spark and Scala that a jar is for. */
final class Versions {
  private Versions() {}

  /** Returns the version of Scala that the classes of this jar were compiled for, by what a method of theirs takes or returns. */
  static String builtFor() {
    for (Method m : UrlCall.class.getDeclaredMethods()) {
      if (m.getName().equals("children") && m.getReturnType() == scala.collection.Seq.class) {
        return "2.12"; // where a Seq is a scala.collection.Seq
      }
    }
    return "2.13";
  }

  /** Refuses a Spark that is too old. It loads no other class of the jar, which may need what such a Spark does not have. */
  static void checkSpark(String spark) {
    int[] version = numbers(spark);
    if (version[0] < 3 || version[0] == 3 && version[1] < 5) {
      throw new UrlmillException("urlmill: this is Spark " + spark + ", and the jar is for 3.5 and newer");
    }
  }

  /** Refuses the jar of another Scala. */
  static void checkScala(String scala, String builtFor) {
    if (!scala.startsWith(builtFor + ".")) {
      throw new UrlmillException("urlmill: this Spark is built with Scala " + scala + ", and the jar is urlmill-spark_" + builtFor + ": take urlmill-spark_"
          + String.join(".", Arrays.copyOf(scala.split("\\."), 2)));
    }
  }

  private static int[] numbers(String version) {
    String[] parts = version.split("\\D+");
    int major = parts.length > 0 && !parts[0].isEmpty() ? Integer.parseInt(parts[0]) : 0;
    return new int[] {major, parts.length > 1 ? Integer.parseInt(parts[1]) : 0};
  }
}
