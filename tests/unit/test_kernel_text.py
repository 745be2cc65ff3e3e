"""A kernel's text in its file: every other byte stays, also odd ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pkdb_tui.engine import kernel_text
from pkdb_tui.engine.errors import PkdbError


def file_of(folder: Path, data: bytes) -> str:
    path = folder / "k.py"
    path.write_bytes(data)
    return str(path)


@pytest.mark.parametrize(
    "data",
    [
        b"import a\ndef k(i):\n    v = 1\n    w = 2\nx = 3\n",
        b"import a\r\ndef k(i):\r\n    v = 1\r\n    w = 2\r\nx = 3\r\n",
        b"import a\r\ndef k(i):\r\n    v = 1\n    w = 2\nx = 3",
        b"import a\ndef k(i):\n    v = 1\n    w = 2",
        b"\xef\xbb\xbfimport a\ndef k(i):\n    v = 1\n    w = 2\n",
        b"# coding: latin-1\ndef k(i):\n    v = '\xe4'\n    w = 2\n\x0c\nx = '\xff'\n",
    ],
)
def test_what_is_not_edited_keeps_every_byte(tmp_path: Path, data: bytes) -> None:
    kernel = kernel_text.read(file_of(tmp_path, data), 2, 4)
    assert kernel.data == data
    assert kernel.text.startswith("def k(i):\n    v = ")
    assert kernel.text.endswith("    w = 2")
    changed = kernel.with_text(kernel.text.replace("w = 2", "w = 22"))
    assert changed == data.replace(b"w = 2", b"w = 22")


def test_lines_that_stay_keep_their_ends_and_new_ones_get_the_usual_end(tmp_path: Path) -> None:
    data = b"def k(i):\r\n    v = 1\r\n    u = 1\n    w = 2\r\nx = 3\n"
    kernel = kernel_text.read(file_of(tmp_path, data), 1, 4)
    changed = kernel.with_text("def k(i):\n    v = 1\n    new = 1\n    u = 1\n    w = 2")
    assert changed == b"def k(i):\r\n    v = 1\r\n    new = 1\r\n    u = 1\n    w = 2\r\nx = 3\n"


def test_a_byte_order_mark_before_the_kernel_stays(tmp_path: Path) -> None:
    kernel = kernel_text.read(file_of(tmp_path, b"\xef\xbb\xbfdef k(i):\n    v = 1\n"), 1, 2)
    assert kernel.text == "def k(i):\n    v = 1"
    assert kernel.with_text("def k(i):\n    v = 2") == b"\xef\xbb\xbfdef k(i):\n    v = 2\n"


def test_what_the_encoding_lacks_is_named(tmp_path: Path) -> None:
    kernel = kernel_text.read(file_of(tmp_path, b"# coding: latin-1\ndef k(i):\n    v = 1\n"), 2, 3)
    with pytest.raises(PkdbError, match=r"k\.py is in iso-8859-1, which has no '√'"):
        kernel.with_text("def k(i):\n    v = 1  # √")


def test_a_form_feed_inside_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PkdbError, match="form feed"):
        kernel_text.read(file_of(tmp_path, b"def k(i):\n    v = 1\n    \x0cw = 1\n"), 1, 3)


def test_a_file_is_replaced_with_its_mode_and_through_its_link(tmp_path: Path) -> None:
    path = Path(file_of(tmp_path, b"old"))
    path.chmod(0o754)
    (tmp_path / "link.py").symlink_to(path)
    kernel_text.write(str(tmp_path / "link.py"), b"new")
    assert path.read_bytes() == b"new"
    assert os.stat(path).st_mode & 0o777 == 0o754
    assert (tmp_path / "link.py").is_symlink()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["k.py", "link.py"]


@pytest.mark.parametrize("indent", ["", "    ", "\t"])
def test_a_function_alone_is_parsed_with_its_own_lines(indent: str) -> None:
    text = "\n".join(indent + line for line in ("@pk.workunit", "def k(i: int, v: pk.View1D[float]):", "  v[i] = 1"))
    node = kernel_text.parsed(text)
    assert (node.name, node.lineno, node.body[0].lineno) == ("k", 2, 3)
    assert kernel_text.parameters(node) == [("i", "int"), ("v", "pk.View1D[float]")]
    with pytest.raises(SyntaxError) as found:
        kernel_text.parsed(text + " +")
    assert found.value.lineno == 3


@pytest.mark.parametrize("text", ["x = 1", "def k(i):\n    pass\nx = 1", "    def k(i):\n        pass\nx = 1"])
def test_more_or_less_than_a_function_is_refused(text: str) -> None:
    with pytest.raises(PkdbError, match="Only the kernel itself"):
        kernel_text.parsed(text)


def test_a_line_is_found_again_where_it_went() -> None:
    old, new = "a\nb\nc\nd", "a\nnew\nb\nC\nd"
    assert [kernel_text.line_in(old, new, line) for line in range(4)] == [0, 2, 3, 4]
    assert kernel_text.line_in("a\nb\nc", "a\nc", 1) == 1
    assert kernel_text.line_in("a\nv[i] = v[i] * 2\nc", "a\nk = 2.0\n  v[i] = v[i] * k\nc", 1) == 2


def test_a_difference_names_the_lines_of_each_text() -> None:
    assert kernel_text.difference("a\nb\nc", "a\nB\nB2\nc", 10) == [
        "    10 a", "-   11 b", "+   11 B", "+   12 B2", "    13 c",
    ]  # fmt: skip
    assert kernel_text.difference("a", "a", 1) == []
