#!/usr/bin/env bash
# Makes the archive that Maven Central takes of what Maven has built (make spark): poms and jars where a repository has them, each with its checksums,
# and with a signature where gpg has a key.
#
#   [GPG_KEY=KEY] plugins/jvm/bundle.sh FOLDER
#
# FOLDER gets urlmill-maven-VERSION.tar.gz. GPG_KEY is what gpg --local-user takes; Maven Central refuses files without a signature.
set -euo pipefail
[ $# = 1 ] || { echo "usage: [GPG_KEY=KEY] plugins/jvm/bundle.sh FOLDER"; exit 2; }
out=$(cd "$1" && pwd)
cd "$(dirname "$0")"
version=$(sed -n 's/^  <version>\(.*\)<\/version>$/\1/p' pom.xml)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)} # the time of all files
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# put FILE ARTIFACT ENDING
put() {
  local to=$work/io/github/urlmill/$2/$version
  mkdir -p "$to"
  to+=/$2-$version$3
  cp "$1" "$to"
  for sum in md5 sha1 sha256; do "${sum}sum" "$to" | cut -d' ' -f1 >"$to.$sum"; done
  [ -z "${GPG_KEY:-}" ] || gpg --batch --local-user "$GPG_KEY" --armor --detach-sign "$to"
}

put pom.xml urlmill-parent .pom
for module in core:urlmill-core spark_2.12:urlmill-spark_2.12 spark_2.13:urlmill-spark_2.13; do
  artifact=${module#*:}
  put "${module%:*}/pom.xml" "$artifact" .pom
  for kind in "" -sources -javadoc; do put "${module%:*}/target/$artifact-$version$kind.jar" "$artifact" "$kind.jar"; done
done
tar --create --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" --directory "$work" io |
  gzip -n9 >"$out/urlmill-maven-$version.tar.gz"
echo "$out/urlmill-maven-$version.tar.gz"
