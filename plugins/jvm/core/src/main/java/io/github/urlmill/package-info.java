/** URLs in batches by the native library, for engines of the JVM. This package knows none of them. */
package io.github.urlmill;
