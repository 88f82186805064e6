package io.github.urlmill.spark;

import io.github.urlmill.Library;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;
import scala.Tuple3;
import scala.collection.Seq;
import scala.runtime.AbstractFunction1;

/** The functions of SQL, by their names. */
final class Functions {
  private static final List<String> FORMS = Arrays.asList("strict", "dedupe", "surt-ia", "surt-cc");
  private static final Map<String, String> COLUMNS = new LinkedHashMap<>();

  static {
    for (String name : new String[] {"host", "registrable_domain", "public_suffix", "origin", "path", "query", "params"}) {
      COLUMNS.put("url_" + name, name);
    }
    COLUMNS.put("url_surt", "surt_key");
    COLUMNS.put("url_error", "url_error");
    COLUMNS.put("url_error_pos", "url_error_pos");
  }

  private Functions() {}

  /** What makes an expression of arguments. */
  private interface Builder {
    Expression build(String name, List<Expression> arguments);
  }

  /** Returns the functions as {@code SparkSessionExtensions.injectFunction} takes them. */
  static Iterable<Tuple3<FunctionIdentifier, ExpressionInfo, ?>> all() {
    Map<String, Tuple3<FunctionIdentifier, ExpressionInfo, ?>> all = new LinkedHashMap<>();
    COLUMNS.forEach((name, column) -> add(all, name, "(url) - the column " + column + " of a URL", 1, 1,
        (f, arguments) -> call(f, arguments, Wanted.column(column))));
    add(all, "url_param", "(url, name) - the first value of a parameter of the query, decoded", 2, 2, Functions::parameter);
    add(all, "url_canonical", "(url, form) - the URL in the form strict, dedupe, surt-ia or surt-cc", 2, 2, Functions::canonical);
    add(all, "urlmill_parse", "(url [, base]) - all parts of a URL as a struct", 1, 2, (f, arguments) -> call(f, arguments, Wanted.parts()));
    add(all, "urlmill_version", "() - versions of urlmill and of its list of public suffixes, as JSON", 0, 0,
        (f, arguments) -> new Literal(UTF8String.fromString(Library.version()), DataTypes.StringType));
    return all.values();
  }

  private static void add(
      Map<String, Tuple3<FunctionIdentifier, ExpressionInfo, ?>> to, String name, String usage, int least, int most, Builder builder) {
    AbstractFunction1<Seq<Expression>, Expression> build = new AbstractFunction1<Seq<Expression>, Expression>() {
      @Override
      public Expression apply(Seq<Expression> given) {
        List<Expression> arguments = Lists.java(given);
        if (arguments.size() < least || arguments.size() > most) {
          throw new IllegalArgumentException(name + " takes " + (least == most ? "" : least + " or ") + most + " arguments, not "
              + arguments.size() + ": " + name + usage);
        }
        return builder.build(name, arguments);
      }
    };
    ExpressionInfo info = new ExpressionInfo(UrlCall.class.getName(), null, name, name + usage, "", "", "", "", "", "", "");
    to.put(name, new Tuple3<>(new FunctionIdentifier(name, Option.empty()), info, build));
  }

  /** Returns a call; NULL in place of a URL has no type of its own. */
  private static Expression call(String function, List<Expression> arguments, Wanted wanted) {
    if (arguments.get(0).dataType() instanceof NullType) {
      return nothing(wanted.type());
    }
    if (arguments.size() == 2 && arguments.get(1).dataType() instanceof NullType) {
      return new UrlCall(Arrays.asList(arguments.get(0), nothing(DataTypes.StringType)), wanted, function);
    }
    return new UrlCall(arguments, wanted, function);
  }

  private static Literal nothing(DataType type) {
    return new Literal(null, type);
  }

  private static Expression parameter(String function, List<Expression> arguments) {
    Expression name = arguments.get(1);
    if (name.dataType() instanceof NullType) {
      return nothing(DataTypes.StringType);
    }
    List<Expression> url = Collections.singletonList(arguments.get(0));
    if (!name.foldable()) {
      return new ParameterOf(call("url_params", url, Wanted.column("params")), name);
    }
    Object constant = name.eval(null);
    return constant == null ? nothing(DataTypes.StringType) : call(function, url, Wanted.parameter(constant.toString()));
  }

  private static Expression canonical(String function, List<Expression> arguments) {
    Expression form = arguments.get(1);
    if (!form.foldable()) {
      throw new IllegalArgumentException(function + ": the form is a constant, one of " + String.join(", ", FORMS) + ", not " + form.sql());
    }
    Object constant = form.eval(null);
    if (constant == null) {
      return nothing(DataTypes.StringType);
    }
    if (!FORMS.contains(constant.toString())) {
      throw new IllegalArgumentException(function + ": the form \"" + constant + "\" is none of " + String.join(", ", FORMS));
    }
    return call(function, Collections.singletonList(arguments.get(0)), Wanted.canonical(constant.toString()));
  }
}
