#!/bin/sh
# Make .venv, or bring it up to date. `make` runs this script in the project's root, before each
# target that needs the environment.
#
#   sh tools/environment.sh python3 lab   set up, with python3 or else another Python that fits,
#                                         for the lessons; with `test`, for the tests as well
#   sh tools/environment.sh --is-ready    return 0 if .venv works as it is, and write nothing
#
# The script leaves these files in .venv:
#
#   started             marks a first set-up that has not finished. If it was interrupted, the next
#                       one starts over.
#   has-lab, has-test   hold the folder for which the packages of an extra were installed. The
#                       scripts in .venv/bin contain this path, so an environment that was moved
#                       is made anew.
#   log                 holds what venv and pip print.
#
# Everything here is POSIX sh, because no Python that fits may be installed yet.

set -eu

WANTED="Python 3.11 to 3.14"
FITS="import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))"
OTHER_PYTHONS="python3.13 python3.12 python3.11 python3.14"
# What pip prints where it cannot reach a server.
OFFLINE="establish a new connection|name ?resolution|unreachable|timed out|ProxyError"
OFFLINE="$OFFLINE|connection (refused|reset|broken)"

main() {
  if [ "${1:-}" = --is-ready ]; then
    is_ready
    return
  fi
  find_python "${1:-python3}"
  extra=${2:-test}
  check_venv_module
  if must_start_over; then
    make_environment
  elif [ "$extra" = test ] && [ -e .venv/has-lab ] && [ ! -e .venv/has-test ]; then
    echo "Adding the packages of the tests to .venv: a download of 120 MB"
  else
    echo "Bringing .venv up to date with pyproject.toml and constraints.txt"
  fi
  install_packages
  rm -f .venv/started
  pwd -P >.venv/has-lab  # which [test] includes
  if [ "$extra" = test ]; then
    pwd -P >.venv/has-test
  fi
}

stop() {
  echo "Set-up: $*" >&2
  exit 1
}

last_line() {
  printf '%s\n' "$1" | tail -n 1
}

fits() {
  "$1" -c "$FITS" 2>/dev/null
}

environment_works() {
  .venv/bin/python -c "import pip; $FITS" 2>/dev/null
}

was_moved() {
  for stamp in .venv/has-lab .venv/has-test; do
    if [ -e $stamp ] && [ "$(cat $stamp)" != "$(pwd -P)" ]; then
      return 0
    fi
  done
  return 1
}

is_ready() {
  environment_works && [ ! -e .venv/started ] && ! was_moved
}

# Set `python` to the first Python that fits.
find_python() {
  for python in "$1" $OTHER_PYTHONS; do
    if fits "$python"; then
      return
    fi
  done
  advice="install one, or name one: make PYTHON=/path/to/python3"
  if ! command -v "$1" >/dev/null; then
    stop "there is no $1 here, and no other $WANTED: $advice"
  fi
  version=$(last_line "$("$1" --version 2>&1)")
  stop "$1 is $version, and there is no $WANTED: $advice"
}

# Debian's python3 comes without venv and ensurepip.
check_venv_module() {
  if ! "$python" -c "import venv, ensurepip" 2>/dev/null; then
    package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    stop "$python cannot make environments: on Debian and Ubuntu, apt install $package;" \
      "elsewhere, install a full Python"
  fi
}

# An environment that works but has no stamp was made by somebody else: it is updated, never removed.
must_start_over() {
  ! is_ready
}

make_environment() {
  announce_download
  reason=$({ rm -rf .venv && mkdir .venv && touch .venv/started; } 2>&1) ||
    stop "cannot make the folder .venv: $(last_line "$reason")"
  "$python" -m venv .venv >.venv/log 2>&1 ||
    stop "venv failed: $(tail -n 1 .venv/log)"
}

# The sizes are those with torch's CPU build.
announce_download() {
  case $extra in
    lab) size="300 MB" ;;
    *) size="420 MB" ;;
  esac
  echo "Making .venv with $("$python" --version): a download of $size, a few minutes"
  if [ "$(uname)" = Linux ] && [ -z "${PIP_EXTRA_INDEX_URL:-}" ]; then
    echo "On Linux, pip's own torch brings CUDA, a few GB more. To do without it, press Ctrl+C, look up the"
    echo "address of torch's CPU builds (pytorch.org, Get Started), and call make $extra PIP_EXTRA_INDEX_URL=ADDRESS"
  fi
}

install_packages() {
  reason=$(touch .venv/log 2>&1) ||
    stop "cannot write to the folder .venv: $(last_line "$reason")"
  if .venv/bin/python -m pip install --no-input --progress-bar=off -c constraints.txt \
    -e ".[$extra]" >.venv/log 2>&1 </dev/null; then
    return
  fi
  if grep -Eqi "$OFFLINE" .venv/log; then
    stop "pip cannot reach its package index: check the network, the proxy and \`pip config list\`," \
      "then try again"
  fi
  stop "pip failed: $(grep -i error .venv/log | tail -n 1) (all of its output is in .venv/log)"
}

main "$@"
