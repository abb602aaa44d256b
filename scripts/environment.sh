# Sourced by the other scripts: sets up .venv, the virtual environment that they work in.
#
#   prepare base    installs leafid with its web page
#   prepare all     also installs the packages for tests, linters and the documentation
#   prepare lowest  installs the lowest versions that setup.cfg allows of leafid and its tests, in .venv-lowest
#
# The environment is set up once, and again whenever constraints.txt, setup.cfg or pyproject.toml change. One that a
# person made, as README.md says, is used, too: as it is where leafid's commands run in it, otherwise after the same
# installation. In every environment the code is that of the checkout.
# PYTHON names another interpreter, LEAFID_VENV another folder than .venv. LEAFID_VENV_IS_READY is set by .ci/run, which
# uses the environment of one checkout for a copy of it.

root=$(cd "$(dirname "$0")/.." && pwd)
venv=${LEAFID_VENV:-$root/.venv}
# The scripts change the folder, so a relative path must become absolute.
case $venv in /*) ;; *) venv=$PWD/$venv ;; esac

fail() {
    printf '%s\n' "$(basename "$0"): error: $1" >&2
    exit 1
}

find_python() {
    # Each name is tried: a command that exists may still not run, as with pyenv.
    for python in ${PYTHON:-python3 python3.13 python3.12 python3.11 python}; do
        if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            printf '%s\n' "$python"
            return
        fi
    done
    found=$(${PYTHON:-python3} --version 2>&1 || true)
    fail "expected Python 3.11 or newer, found ${found:-none}; install one, or name one: PYTHON=/path/to/python $0"
}

# What the environment depends on; when it changes, the environment is set up again.
state() {
    printf '%s %s\n' "$(cat "$root/constraints.txt" "$root/setup.cfg" "$root/pyproject.toml" | cksum)" "$root"
}

# Whether the packages that leafid needs are there: the public names import nearly all of them.
runs_leafid='import leafid; [getattr(leafid, name) for name in leafid.__all__]'
# Whether packages get into the environment, and not beside it.
can_install='import os, pip, sys; sys.exit(sys.version_info < (3, 11) or not os.path.samefile(sys.prefix, sys.argv[1]))'

prepare() {
    [ -n "${LEAFID_VENV_IS_READY:-}" ] || set_up "$1"
    PYTHONPATH=$root${PYTHONPATH:+:$PYTHONPATH}
    export PYTHONPATH
}

set_up() {
    constraints=$root/constraints.txt
    case $1 in
        base) requirement="$root[web]" ;;
        all) requirement="$root[test,lint,docs]" ;;
        lowest)
            requirement="$root[test]"
            [ -n "${LEAFID_VENV:-}" ] || venv=$root/.venv-lowest
            constraints=$venv/lowest.txt
            ;;
    esac
    for ready in "$venv/leafid-ready-all" "$venv/leafid-ready-$1"; do
        if [ -f "$ready" ] && [ "$(cat "$ready")" = "$(state)" ] && "$venv/bin/python" -c '' 2>/dev/null; then
            return
        fi
    done
    if { [ -e "$venv" ] || [ -L "$venv" ]; } && [ ! -f "$venv/leafid-made-this" ]; then
        if [ "$1" = base ] && [ -x "$venv/bin/leafid" ] \
            && PYTHONPATH=$root "$venv/bin/python" -c "$runs_leafid" 2>/dev/null; then
            return
        fi
        "$venv/bin/python" -c "$can_install" "$venv" 2>/dev/null || fail "expected a virtual environment at $venv, of \
Python 3.11 or newer and with pip, found none that works; move it away, or name another: LEAFID_VENV=/tmp/venv $0"
    fi
    if "$venv/bin/python" -c '' 2>/dev/null; then
        printf '%s\n' "Installing what is needed into $venv …" >&2
    else
        python=$(find_python) || exit 1
        printf '%s\n' "Setting up $venv with $("$python" --version) …" >&2
        "$python" -m venv --clear "$venv" >&2 \
            || fail "no virtual environment could be made; on Debian and Ubuntu: apt-get install python3-venv"
        : >"$venv/leafid-made-this"
    fi
    rm -f "$venv"/leafid-ready-*
    if [ "$1" = lowest ]; then
        sed -n 's/^ *\([a-z0-9-]*\)>=\([0-9.]*\)$/\1==\2/p' "$root/setup.cfg" >"$constraints"
    fi
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
        --constraint "$constraints" --editable "$requirement" >&2 \
        || fail "the packages could not be installed; pip says above why. Is there a network, and room on the disk?"
    state >"$venv/leafid-ready-$1"
}
