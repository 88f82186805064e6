#!/usr/bin/env bash
# Copies the jars that Maven has built to where the documentation says they are.
#
#   plugins/jvm/collect.sh FOLDER [VERSION]
#
# FOLDER gets urlmill-spark_2.12.jar, urlmill-spark_2.13.jar, urlmill-core.jar, and of each the jars of sources and javadoc. With VERSION their
# names have it, as in Maven's repositories.
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: plugins/jvm/collect.sh FOLDER [VERSION]"; exit 2; }
out=$(cd "$1" && pwd)
version=${2:-}
cd "$(dirname "$0")"
package=$(sed -n 's/^  <version>\(.*\)<\/version>$/\1/p' pom.xml)
if [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ && $version != "$package" ]]; then
  echo "the release is $version, and plugins/jvm/pom.xml says $package"
  exit 1
fi
for module in core:urlmill-core spark_2.12:urlmill-spark_2.12 spark_2.13:urlmill-spark_2.13; do
  for kind in "" -sources -javadoc; do
    cp "${module%:*}/target/${module#*:}-$package$kind.jar" "$out/${module#*:}${version:+-$version}$kind.jar"
  done
done
