#!/usr/bin/env bash
# Everything a checkout needs: system programs that are missing, and a virtual environment in .venv.
# Arguments: the system programs to have, such as `g++ gdb`.
set -euo pipefail
cd "$(dirname "$0")/.."

declare -A package=([g++]=g++ [gdb]=gdb [tmux]=tmux [sshd]=openssh-server [ssh]=openssh-client)

python=${PYTHON:-}
if [ -z "$python" ]; then
    for candidate in python3 python3.13 python3.12 python3.11; do
        if command -v "$candidate" >/dev/null && "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
            python=$candidate
            break
        fi
    done
fi
if [ -z "$python" ]; then
    echo "Python 3.11 or newer is needed. Install one, or name it: make PYTHON=/path/to/python3.12 ..." >&2
    exit 1
fi

missing=()
for program in "$@"; do
    command -v "$program" >/dev/null || [ -x "/usr/sbin/$program" ] || missing+=("${package[$program]}")
done
# Debian and Ubuntu have the part of Python that makes virtual environments in a package of its own.
"$python" -c 'import ensurepip, venv' 2>/dev/null || missing+=("$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')")
if [ ${#missing[@]} -gt 0 ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -q >/dev/null
        DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >/dev/null
    else
        echo "Missing: ${missing[*]}. Install them first, on Debian and Ubuntu with:" >&2
        echo "    sudo apt-get install ${missing[*]}" >&2
        exit 1
    fi
fi

venv=${VENV:-.venv}
if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then # none, or one that was never finished
    "$python" -m venv "$venv"
fi
stamp="$venv/.installed"
if [ ! -e "$stamp" ] || [ pyproject.toml -nt "$stamp" ]; then
    "$venv/bin/python" -m pip install -q --disable-pip-version-check -e '.[dev]'
    touch "$stamp"
fi
