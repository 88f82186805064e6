package io.github.urlmill.spark;

import java.util.function.Function;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import scala.Function1;
import scala.Tuple3;
import scala.runtime.AbstractFunction1;

/** Adds functions and rules to the sessions of Spark. */
final class Installed {
  private Installed() {}

  @SuppressWarnings({"unchecked", "rawtypes"})
  static void into(SparkSessionExtensions extensions) {
    for (Tuple3<FunctionIdentifier, ExpressionInfo, ?> function : Functions.all()) {
      extensions.injectFunction((Tuple3) function);
    }
    extensions.injectPreCBORule(Installed.<org.apache.spark.sql.catalyst.rules.Rule<org.apache.spark.sql.catalyst.plans.logical.LogicalPlan>>each(session -> new ExtractUrls()));
    extensions.injectPlannerStrategy(each(session -> new UrlStrategy()));
    extensions.injectColumnar(each(session -> new RowsRule()));
  }

  private static <T> Function1<SparkSession, T> each(Function<SparkSession, T> make) {
    return new AbstractFunction1<SparkSession, T>() {
      @Override
      public T apply(SparkSession session) {
        return make.apply(session);
      }
    };
  }
}
