package io.github.urlmill;

import java.util.ArrayList;
import java.util.List;

/** Writes the options of a {@link Processor}. */
public final class Options {
  /** The environment variable with the path of a list of public suffixes to use in place of the one in the jar. */
  public static final String PSL = "URLMILL_PSL";

  private final List<String> include = new ArrayList<>();
  private final List<String> promote = new ArrayList<>();
  private String form;
  private boolean bases;

  /** Adds a column. */
  public Options column(String name) {
    include.add(quoted(name));
    return this;
  }

  /** Adds the first value of a parameter of the query as a column of the given name. */
  public Options parameter(String parameter, String column) {
    promote.add("{\"param\": " + quoted(parameter) + ", \"name\": " + quoted(column) + "}");
    return column(column);
  }

  /** Adds the column canonical_url, in a form. */
  public Options canonical(String form) {
    this.form = form;
    return column("canonical_url");
  }

  /** Says that every row has a base. */
  public Options bases() {
    bases = true;
    return this;
  }

  /** Returns the processor. */
  public Processor processor() {
    return Processor.of(json(System.getenv(PSL)), bases);
  }

  /** Returns the options in JSON, with the path of a list of public suffixes, null or "" for none. */
  String json(String psl) {
    StringBuilder s = new StringBuilder("{\"include\": [").append(String.join(", ", include)).append("]");
    if (!promote.isEmpty()) {
      s.append(", \"promote\": [").append(String.join(", ", promote)).append("]");
    }
    if (form != null) {
      s.append(", \"canonical\": {\"form\": ").append(quoted(form)).append("}");
    }
    if (bases) {
      s.append(", \"url\": \"url\", \"base\": \"base\"");
    }
    if (psl != null && !psl.isEmpty()) {
      s.append(", \"psl\": ").append(quoted(psl));
    }
    return s.append("}").toString();
  }

  private static String quoted(String text) {
    StringBuilder s = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') {
        s.append('\\').append(c);
      } else if (c < ' ' || Character.isSurrogate(c)) {
        s.append(String.format("\\u%04x", (int) c));
      } else {
        s.append(c);
      }
    }
    return s.append('"').toString();
  }
}
