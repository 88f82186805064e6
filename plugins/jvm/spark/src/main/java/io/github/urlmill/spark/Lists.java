package io.github.urlmill.spark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.collection.immutable.Nil$;

/** Lists of Scala, by what is the same in 2.12 and 2.13. */
final class Lists {
  private Lists() {}

  static <T> List<T> java(Seq<T> from) {
    List<T> to = new ArrayList<>();
    for (Iterator<T> i = from.iterator(); i.hasNext(); ) {
      to.add(i.next());
    }
    return to;
  }

  @SuppressWarnings("unchecked")
  static <T> scala.collection.immutable.List<T> scala(List<? extends T> from) {
    scala.collection.immutable.List<T> to = (scala.collection.immutable.List<T>) (Object) Nil$.MODULE$;
    for (int i = from.size() - 1; i >= 0; i--) {
      to = to.$colon$colon(from.get(i));
    }
    return to;
  }

  static <T> Iterator<T> scala(java.util.Iterator<T> from) {
    return new AbstractIterator<T>() {
      @Override
      public boolean hasNext() {
        return from.hasNext();
      }

      @Override
      public T next() {
        return from.next();
      }
    };
  }

  @SafeVarargs
  @SuppressWarnings("varargs")
  static <T> scala.collection.immutable.List<T> of(T... from) {
    return scala(Arrays.asList(from));
  }
}
