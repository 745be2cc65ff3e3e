"""The text of one kernel in a Python file: taken out, put back with every other byte as it was, and compared."""

from __future__ import annotations

import ast
import codecs
import difflib
import io
import os
import tempfile
import tokenize
from dataclasses import dataclass
from pathlib import Path

from pkdb_tui import state_files
from pkdb_tui.engine.errors import PkdbError

ODD_BREAKS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"  # line ends for an editor, none for Python
Parameter = tuple[str, str]  # name, annotation as written


@dataclass(frozen=True)
class KernelText:
    """`text` has `\\n` between its lines and none behind the last; `before` and `after` are all other bytes."""

    path: str
    first_line: int
    before: bytes
    text: str
    after: bytes
    encoding: str
    ends: tuple[str, ...]  # how each line of the text ends in the file

    @property
    def data(self) -> bytes:
        """The whole file as it was read."""
        return self.with_text(self.text)

    @property
    def last_line(self) -> int:
        return self.first_line + self.text.count("\n")

    def with_text(self, text: str) -> bytes:
        """The whole file with another text for the kernel; lines that stay keep their ends.

        Raises PkdbError for a character that the file's encoding lacks.
        """
        old, new = self.text.split("\n"), text.split("\n")
        usual = max(set(self.ends), key=self.ends.count) if self.ends else "\n"
        ends = [usual] * len(new)
        for first, other, size in difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
            ends[other : other + size] = [end or usual for end in self._ends_of(first, size)]
        whole = "".join(line + end for line, end in zip(new, [*ends[:-1], ""], strict=True))
        try:
            return self.before + whole.encode(self.encoding) + self.after
        except UnicodeEncodeError as error:
            missing = whole[error.start]
            raise PkdbError(
                f"{os.path.basename(self.path)} is in {self.encoding}, which has no {missing!r}.",
                "Write it without that character.",
            ) from error

    def _ends_of(self, first: int, size: int) -> list[str]:
        return [*self.ends, ""][first : first + size]


def read(path: str, first_line: int, last_line: int) -> KernelText:
    """Lines of a file, both bounds inclusive. Raises PkdbError where it can't be read or edited."""
    name = os.path.basename(path)
    try:
        with open(path, "rb") as stream:
            data = stream.read()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except OSError as error:
        raise PkdbError(f"{name} can't be read: {error.strerror}.", "Look whether it is still there.") from error
    except SyntaxError as error:
        raise PkdbError(f"{name} can't be read: {error.msg}.", "Mend its encoding line.") from error
    lines = data.splitlines(keepends=True)
    if not 1 <= first_line <= last_line <= len(lines):
        raise PkdbError(f"{name} has no lines {first_line} to {last_line} any more.", "`restart` reads it anew.")
    before = b"".join(lines[: first_line - 1])
    if first_line == 1 and data.startswith(codecs.BOM_UTF8):
        before, lines[0] = codecs.BOM_UTF8, lines[0][len(codecs.BOM_UTF8) :]
    kept = lines[first_line - 1 : last_line]
    encoding = "utf-8" if encoding == "utf-8-sig" else encoding
    try:
        texts = [line.decode(encoding) for line in kept]
    except UnicodeDecodeError as error:
        raise PkdbError(f"{name} is not in {encoding}: {error.reason}.", "Mend its encoding line.") from error
    bare = [text.rstrip("\r\n") for text in texts]
    if any(char in line for line in bare for char in ODD_BREAKS):
        raise PkdbError(f"The kernel in {name} has a form feed or another odd line end.", "Edit it in another editor.")
    ends = [text[len(line) :] for text, line in zip(texts, bare, strict=True)]
    after = ends[-1].encode(encoding) + b"".join(lines[last_line:])
    return KernelText(path, first_line, before, "\n".join(bare), after, encoding, tuple(ends[:-1]))


def write(path: str, data: bytes) -> None:
    """Replace a file as a whole, with the mode that it has. Raises OSError."""
    path = os.path.realpath(path)
    mode = os.stat(path).st_mode
    descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=f".{os.path.basename(path)}.")
    try:
        with open(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, mode & 0o7777)
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise


def edits_folder() -> Path:
    """Where drafts and edited texts are kept."""
    return state_files.folder() / "edits"


def is_edited(path: str) -> bool:
    """Whether a file is an edited text, which only the session that installed it runs."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(edits_folder()))


def is_alone(path: str, name: str) -> bool:
    """Whether no other function of a file has that name; a file that is no Python now can't tell."""
    try:
        with open(path, "rb") as stream:
            tree = ast.parse(stream.read())
    except (OSError, SyntaxError, ValueError):
        return False
    return sum(isinstance(node, ast.FunctionDef) and node.name == name for node in ast.walk(tree)) == 1


def parsed(text: str) -> ast.FunctionDef:
    """The function that a kernel's text defines, its lines counted from 1.

    Raises SyntaxError (with the text's own lines), PkdbError when it is not one function alone.
    """
    indented = text[:1] in (" ", "\t")
    try:
        tree = ast.parse(f"if True:\n{text}\n" if indented else f"{text}\n")
    except SyntaxError as error:
        error.lineno = max((error.lineno or 1) - indented, 1)
        raise
    body = tree.body
    if indented and isinstance(tree.body[0], ast.If):
        ast.increment_lineno(tree, -1)
        body = tree.body[0].body + tree.body[1:]
    if len(body) != 1 or not isinstance(body[0], ast.FunctionDef):
        raise PkdbError(
            "Only the kernel itself can be edited here.", "Take away what stands beside it, and keep its `def`."
        )
    return body[0]


def parameters(node: ast.FunctionDef) -> list[Parameter]:
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return [(argument.arg, ast.unparse(argument.annotation) if argument.annotation else "") for argument in given]


def line_in(old: str, new: str, line: int) -> int:
    """Where a line of one text (counted from 0) is in another: the same line, or the one most like it in its place."""
    before, after = old.split("\n"), new.split("\n")
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, first, last, other, end in matcher.get_opcodes():
        if first <= line < last:
            if tag == "equal":
                return other + line - first
            place = min(other + line - first, max(end - 1, other), len(after) - 1)
            likeness, best = max(
                ((_likeness(before[line], after[n]), n) for n in range(other, end)), default=(0.0, place)
            )
            return best if likeness > 0.5 else place
    return min(line, len(after) - 1)


def _likeness(one: str, other: str) -> float:
    """From 0 to 1, indentation left out."""
    return difflib.SequenceMatcher(None, one.strip(), other.strip(), autojunk=False).ratio()


def difference(old: str, new: str, first_line: int) -> list[str]:
    """Rows of ` `, `-` or `+`, the line's number in its own text, and the line; none for texts that are alike."""
    if old == new:
        return []
    before, after = old.split("\n"), new.split("\n")
    rows: list[str] = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for group in matcher.get_grouped_opcodes(2):
        if rows:
            rows.append("…")
        for tag, first, last, other, end in group:
            if tag == "equal":
                rows += [f"  {first_line + other + n:>4} {after[other + n]}" for n in range(end - other)]
                continue
            rows += [f"- {first_line + n:>4} {before[n]}" for n in range(first, last)]
            rows += [f"+ {first_line + n:>4} {after[n]}" for n in range(other, end)]
    return rows
