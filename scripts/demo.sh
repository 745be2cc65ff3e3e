#!/usr/bin/env bash
# The demo: examples/yax.py stopped inside a kernel on OpenMP threads. Without a terminal, the same tour in words.
set -euo pipefail
cd "$(dirname "$0")/.."
tour=(-c 'break 37' -c 'break 31' -c 'display a[j, 0:4]' -c 'continue')
if [ -t 0 ] && [ -t 1 ]; then
    exec .venv/bin/pkdb-tui "${tour[@]}" examples/yax.py
fi
exec .venv/bin/pkdb-tui --plain "${tour[@]}" \
    -c 'where' -c 'threads' -c 'locals' -c 'print total' -c 'parallel_print j' \
    -c 'step' -c 'step' -c 'where' -c 'finish' -c 'delete 2' -c 'continue' -c 'parallel_print part' \
    -c 'delete' -c 'finish' -c 'info launches' -c 'continue' examples/yax.py
