package io.github.urlmill;

import java.nio.charset.StandardCharsets;

/** Says that a batch has too many URLs, or too many bytes of them, or would have a column of more than 2 GiB: parse fewer rows at a time. */
public final class TooLargeException extends UrlmillException {
  private static final long serialVersionUID = 1;

  /** Makes one with a text that says what is too large. */
  public TooLargeException(String text) {
    super(text);
  }

  /** What native methods throw: a text in UTF-8. */
  TooLargeException(byte[] text) {
    super(new String(text, StandardCharsets.UTF_8));
  }
}
