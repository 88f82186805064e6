package io.github.urlmill.spark;

import io.github.urlmill.Library;
import io.github.urlmill.Options;
import io.github.urlmill.UrlmillException;
import org.apache.spark.sql.SparkSessionExtensions;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/**
 * What a configuration names: {@code spark.sql.extensions=io.github.urlmill.spark.UrlmillExtensions}. It adds the functions, and the
 * rules that let them be parsed in batches.
 */
public final class UrlmillExtensions extends AbstractFunction1<SparkSessionExtensions, BoxedUnit> {
  /**
   * Checks that this Spark, this machine and the list of public suffixes will do.
   *
   * @throws UrlmillException at the start of a session, which says what does not fit
   */
  public UrlmillExtensions() {
    Versions.checkSpark(org.apache.spark.package$.MODULE$.SPARK_VERSION());
    Versions.checkScala(scala.util.Properties$.MODULE$.versionNumberString(), Versions.builtFor());
    Library.load();
    try {
      new Options().column("public_suffix").processor();
    } catch (UrlmillException e) {
      throw new UrlmillException("urlmill: " + Options.PSL + ": " + e.getMessage(), e);
    }
  }

  @Override
  public BoxedUnit apply(SparkSessionExtensions extensions) {
    Installed.into(extensions);
    return BoxedUnit.UNIT;
  }
}
