package io.github.urlmill;

import java.nio.charset.StandardCharsets;

/** Says why the library cannot be loaded, or refuses options. A text that is no URL is never a reason for one. */
public class UrlmillException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Makes one with a text that says what to do. */
  public UrlmillException(String text) {
    super(text);
  }

  /** Makes one with a text that says what to do, and its cause. */
  public UrlmillException(String text, Throwable cause) {
    super(text, cause);
  }

  /** What native methods throw: a text in UTF-8. */
  UrlmillException(byte[] text) {
    super(new String(text, StandardCharsets.UTF_8));
  }
}
