#!/bin/sh
# Stands in for docker: notes its arguments, and runs the command of `run` in the folder that is mounted.
here=$(dirname "$0")
echo "$*" >> "$here/asked"
case "$1" in
  version) test -z "$DOCKER_HOST" && exit 0; echo "no engine here" >&2; exit 1 ;;
  image) for last; do :; done; test "$last" != missing && exit 0; echo "No such image: $last" >&2; exit 1 ;;
  rm) exit 0 ;;
esac
while [ "$1" != /bin/sh ]; do
  test "$1" = --volume && cd "${2%:/workspace}"
  shift
done
exec "$@"
