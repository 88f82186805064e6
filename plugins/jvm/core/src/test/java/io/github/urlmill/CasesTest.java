package io.github.urlmill;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The cases that all engines share, plugins/testdata/functions.ndjson, as one batch. */
class CasesTest {
  private static final String[] COLUMNS = {
    "href", "scheme", "has_username", "host", "port", "origin", "registrable_domain", "public_suffix", "path", "query", "params", "fragment", "url_error",
    "url_error_pos"
  };
  private static final String[] FORMS = {"strict", "dedupe", "surt-ia", "surt-cc"};

  private static List<JsonNode> cases() throws Exception {
    List<JsonNode> cases = new ArrayList<>();
    for (String line : Files.readAllLines(Paths.get(System.getProperty("urlmill.cases")))) {
      cases.add(new ObjectMapper().readTree(line));
    }
    return cases;
  }

  private static void add(Texts to, JsonNode text) {
    if (text == null || text.isNull()) {
      to.addNull();
      return;
    }
    byte[] bytes = text.asText().getBytes(StandardCharsets.UTF_8);
    to.add(bytes, 0, bytes.length);
  }

  private static String value(Column c, int row) {
    if (c.isNull(row)) {
      return "null";
    }
    switch (c.field().format()) {
      case "u":
        return c.text(row);
      case "b":
        return "" + c.truth(row);
      case "i":
        return "" + c.number(row);
      case "+l":
        List<String> pairs = new ArrayList<>();
        Column pair = c.children().get(0);
        for (int i = c.number(row); i < c.number(row + 1); i++) {
          pairs.add(pair.children().get(0).text(i + pair.offset()) + "=" + pair.children().get(1).text(i + pair.offset()));
        }
        return pairs.toString();
      default:
        throw new AssertionError(c.field().format());
    }
  }

  private static String value(JsonNode n) {
    if (n == null || n.isNull()) {
      return "null";
    }
    if (!n.isArray()) {
      return n.asText();
    }
    List<String> pairs = new ArrayList<>();
    n.forEach(p -> pairs.add(p.get("key").asText() + "=" + p.get("value").asText()));
    return pairs.toString();
  }

  private static Options columns() {
    Options o = new Options();
    for (String name : COLUMNS) {
      o.column(name);
    }
    return o;
  }

  private static void compare(List<JsonNode> cases, Batch got) {
    for (int row = 0; row < cases.size(); row++) {
      JsonNode want = cases.get(row);
      for (int c = 0; c < COLUMNS.length; c++) {
        boolean absent = want.get("url").isNull(); // engines give NULL, the library says that there is no URL
        String value = absent ? "null" : value(got.column(c), row);
        assertEquals(value(want.get(COLUMNS[c])), value, want.get("url") + " " + COLUMNS[c]);
      }
    }
  }

  @Test
  void everyColumn() throws Exception {
    List<JsonNode> cases = cases();
    cases.removeIf(c -> c.has("base"));
    assertTrue(cases.size() > 40);
    try (Texts urls = new Texts()) {
      cases.forEach(c -> add(urls, c.get("url")));
      Processor p = columns().processor();
      try (Batch got = p.parse(urls, null)) {
        assertEquals(cases.size(), got.rows());
        compare(cases, got);
      }
      for (String form : FORMS) {
        try (Batch got = new Options().column("surt_key").canonical(form).processor().parse(urls, null)) {
          for (int row = 0; row < cases.size(); row++) {
            JsonNode want = cases.get(row);
            assertEquals(value(want.get("surt")), value(got.column(0), row), "" + want);
            assertEquals(value(want.has("canonical") ? want.get("canonical").get(form) : null), value(got.column(1), row), form + " " + want);
          }
        }
      }
    }
  }

  @Test
  void bases() throws Exception {
    List<JsonNode> cases = cases();
    cases.removeIf(c -> !c.has("base"));
    assertTrue(cases.size() > 4);
    try (Texts urls = new Texts();
        Texts bases = new Texts()) {
      cases.forEach(c -> add(urls, c.get("url")));
      cases.forEach(c -> add(bases, c.get("base")));
      try (Batch got = columns().bases().processor().parse(urls, bases)) {
        compare(cases, got);
      }
    }
  }
}
