#!/bin/sh
# Stands in for Python: makes "virtual environments" of itself, and logs what it is asked to install and run. The tests
# of an environment, and with a kernel of OpenBLAS, fail where $FAILING has its name or the kernel's.
environment=$(basename "$(dirname "$(dirname "$0")")")
case "$*" in
  "-c "*threadpoolctl*) echo "${OPENBLAS_CORETYPE:-$KERNEL}" ;;
  "-c "*) exit 0 ;;
  --version) echo "Python 3.11.99" ;;
  "-m venv --clear "*) mkdir -p "$4/bin" && cp "$0" "$4/bin/python" && echo venv >>"$LOG" ;;
  "-m pip install "*) echo "pip $*" >>"$LOG"; [ "${PIP_FAILS_IN:-}" != "$environment" ] ;;
  "-m pytest"*) shift 2; echo "pytest $*" >>"$LOG"
    name=${OPENBLAS_CORETYPE:-$environment}
    echo "closing line of $name"
    [ "${FAILING:-}" != "$name" ] ;;
esac
