package io.github.urlmill;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A column that a processor makes: its name, and its type as a format of Arrow's C Data Interface. */
public final class Field {
  private final String name;
  private final String format;
  private final List<Field> children;

  private Field(String name, String format, List<Field> children) {
    this.name = name;
    this.format = format;
    this.children = Collections.unmodifiableList(children);
  }

  /** Returns the name. */
  public String name() {
    return name;
  }

  /** Returns the type: {@code u} text, {@code b} boolean, {@code i} a number of 32 bits, {@code +l} a list, {@code +s} a struct. */
  public String format() {
    return format;
  }

  /** Returns the fields of a struct, or the values of a list. */
  public List<Field> children() {
    return children;
  }

  /** Returns how many nodes this one and those below are. */
  int nodes() {
    int n = 1;
    for (Field child : children) {
      n += child.nodes();
    }
    return n;
  }

  /** Reads what {@link Native#schema} writes. */
  static Field read(String text) {
    int[] at = {0};
    return read(text.split("\n"), at);
  }

  private static Field read(String[] lines, int[] at) {
    String[] parts = lines[at[0]++].split(" ", 3);
    List<Field> children = new ArrayList<>();
    for (int i = Integer.parseInt(parts[0]); i > 0; i--) {
      children.add(read(lines, at));
    }
    return new Field(parts[2], parts[1], children);
  }
}
