"""The generated C++: numbered by Python lines, the statement in focus marked."""

from __future__ import annotations

from pathlib import Path

from host import PALETTE, lines, shown
from msgspec.structs import replace
from values import FILE, kernel_stop

from pkdb_tui.panes.generated import GeneratedPane, without_directives

TEXT = f"""\
#include "pk_runtime.hpp"
#line 12 "{FILE}"
    double product = a(j, i);
#line 13 "{FILE}"
    acc += product;
    more();
#line 1 "pk_glue.cpp"
}}
"""


def test_directives_number_the_lines_below_them() -> None:
    shown_lines, places = without_directives(TEXT)
    assert shown_lines == [
        '#include "pk_runtime.hpp"',
        "    double product = a(j, i);",
        "    acc += product;",
        "    more();",
        "}",
    ]
    assert places == [("", 0), (FILE, 12), (FILE, 13), (FILE, 14), ("", 0)]


async def test_the_statement_in_focus_is_marked(tmp_path: Path) -> None:
    path = tmp_path / "kernel.cpp"
    path.write_text(TEXT)
    pane = GeneratedPane(PALETTE)
    async with shown(pane, 50, 6):
        assert lines(pane)[0] == " no C++ to show: stop in a kernel that was compil…"
        stop = kernel_stop()
        assert stop.kernel is not None
        pane.show(replace(stop, kernel=replace(stop.kernel, generated=str(path))))
        assert lines(pane)[:5] == [
            '       #include "pk_runtime.hpp"',
            "  12       double product = a(j, i);",
            "  13 ▶     acc += product;",
            "  14       more();",
            "       }",
        ]


def test_a_loops_test_and_a_condition_belong_to_their_python_line() -> None:
    text = '#line 9 "/a.py#turn"\ni < 3;\n#line 9 "/a.py#pkdb2"\nnop;\n#line 1 "pk_glue.cpp"\n++i;\n'
    assert without_directives(text) == (["i < 3;", "nop;", "++i;"], [("/a.py", 9), ("/a.py", 9), ("", 0)])
