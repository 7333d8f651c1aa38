#!/bin/sh
# Spark needs Java 17 or newer: use what is there, else install it where that is possible.
set -u

java_version() {
    "$1" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1
}

found() {
    for java in ${JAVA_HOME:+"$JAVA_HOME/bin/java"} java; do
        version=$(java_version "$java" 2>/dev/null)
        [ "${version:-0}" -ge 17 ] 2>/dev/null && return 0
    done
    return 1
}

found && exit 0

advice="bestbefore needs Java 17 or newer (set JAVA_HOME, or install for example the Debian package openjdk-17-jre-headless)"
if [ -n "${JAVA_HOME:-}" ]; then
    echo "JAVA_HOME=$JAVA_HOME is no Java 17. $advice" >&2
    exit 1
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "$advice" >&2
    exit 1
fi

as_root=""
[ "$(id -u)" -eq 0 ] || as_root="sudo -n"
echo "Installing Java 17 (openjdk-17-jre-headless) …" >&2
if $as_root apt-get update -qq >&2 && $as_root apt-get install -y -qq openjdk-17-jre-headless >&2 && found; then
    exit 0
fi
echo "Java could not be installed here. $advice" >&2
exit 1
