"""One kernel being edited: its text in the file, the draft, what was installed of it, and what is kept on disk."""

from __future__ import annotations

import ast
import hashlib
import os
import time
from pathlib import Path

import msgspec

from pkdb_tui import state_files
from pkdb_tui.engine import kernel_text
from pkdb_tui.engine.api import EditCheck, EditProblem, EditState, EditVariant
from pkdb_tui.engine.carried import Text, real
from pkdb_tui.engine.errors import FileChanged, PkdbError
from pkdb_tui.engine.kernel_text import KernelText

VERSION = 1
KEPT = 50  # variants


class SavedEdit(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a draft and its variants; `original` is the file's text when it was written."""

    version: int
    file: str
    kernel: str
    original: str
    text: str
    variants: list[EditVariant] = []


class Edit:
    """`source` is the file as the editor knows it, `original` the kernel that the program began with."""

    def __init__(self, source: KernelText, kernel: str, *, alone: bool) -> None:
        """`alone`: no other function of the file has the kernel's name. Raises PkdbError for what can't be edited."""
        self.source = source
        self.kernel = kernel
        self.alone = alone
        self.original = Text(real(source.path), source.first_line, source.text)  # what the program began with
        self.ran: dict[str, Text] = {}  # texts that run in its place, by file
        self.text = source.text
        self.variants: list[EditVariant] = []
        self.check = EditCheck.SAME
        self.said = ""
        self.problems: tuple[EditProblem, ...] = ()
        self.warning = ""
        self.unkept = ""
        self.stale = ""  # that the program may have begun with another text
        self.restored = ""  # that the draft is one of an earlier session
        self._seen = self._stat()
        self._tried: Path | None = None
        digest = hashlib.sha256(f"{source.path}\0{kernel}".encode()).hexdigest()[:12]
        self.folder = kernel_text.edits_folder() / f"{kernel}-{digest}"
        self.draft_file = self.folder / f"{kernel}.py"  # for an editor of the person's own
        self._check_kind()

    def _check_kind(self) -> None:
        try:
            node = kernel_text.parsed(self.loaded)
        except (SyntaxError, PkdbError):
            node = None
        name = os.path.basename(self.file)
        if node is None or node.name != self.kernel:
            raise PkdbError(f"{name} changed since the program loaded it.", "`restart` runs it as it is now.")
        if any(_last_name(decorator) == "function" for decorator in node.decorator_list):
            raise PkdbError(f"{self.kernel} is called by kernels, and only kernels that are launched can be exchanged.")
        if not node.decorator_list:
            raise PkdbError(f"{self.kernel} is a method: only kernels that are functions can be exchanged.")

    @property
    def file(self) -> str:
        return self.source.path

    @property
    def first_line(self) -> int:
        return self.source.first_line

    @property
    def loaded(self) -> str:
        return self.original.text

    def state(self, places: dict[str, tuple[str, ...]]) -> EditState:
        """`places` are where each variant's file runs now; the program's own text runs where none is named."""
        own = EditVariant(number=0, time=0.0, text=self.loaded, places=places.get("", ()))
        shown = [msgspec.structs.replace(each, places=places.get(each.path, ())) for each in self.variants]
        return EditState(
            kernel=self.kernel,
            file=self.file,
            first_line=self.first_line,
            original=self.loaded,
            text=self.text,
            check=self.check,
            said=self.said,
            problems=self.problems,
            variants=(own, *shown),
            warning=self.notice,
        )

    @property
    def notice(self) -> str:
        """What the person is to know besides what the check found."""
        return self.unkept or self.warning or self.stale or self.restored

    def compare_with_start(self, started: float) -> None:
        """Note that the file was written after the program had begun."""
        if self._seen and self._seen[0] > started * 1e9:
            name = os.path.basename(self.file)
            self.stale = (
                f"{name} was changed after the program began, which may have another text: `restart` runs this."
            )

    # --- variants ---

    @property
    def next_number(self) -> int:
        return self.variants[-1].number + 1 if self.variants else 1

    def variant_of(self, text: str) -> EditVariant | None:
        return next((each for each in self.variants if each.text == text), None)

    def keep(self) -> EditVariant:
        """The draft as a variant, an earlier one of the same text if there is any."""
        found = self.variant_of(self.text)
        if found is None:
            path = str(self.written())
            found = EditVariant(
                number=self.next_number, time=time.time(), text=self.text, path=path, first_line=self.first_line
            )
            self.variants = [*self.variants, found][-KEPT:]
        return found

    def written(self) -> Path:
        """The file with the draft in the kernel's place: one for each text, so that nothing known of it gets wrong."""
        found = self.variant_of(self.text)
        data = self.source.with_text(self.text)
        stem = os.path.splitext(os.path.basename(self.file))[0]
        name = f"{stem}_edit{self.next_number}.py"
        path = Path(found.path) if found else self.folder / hashlib.sha256(data).hexdigest()[:12] / name
        try:
            if not path.exists():
                state_files.write(path, data)
            self._forget_tried(path)
        except OSError as error:
            text = f"The edited kernel can't be written to {path}: {error.strerror}."
            raise PkdbError(text, state_files.REMEDY) from error
        return path

    def _forget_tried(self, path: Path) -> None:
        """Another text is tried: the file of the one before goes, unless it was kept. Raises OSError."""
        tried, self._tried = self._tried, path
        if tried is not None and tried != path and all(each.path != str(tried) for each in self.variants):
            tried.unlink(missing_ok=True)
            tried.parent.rmdir()

    # --- the draft on disk ---

    def restore(self) -> str:
        """Take the draft and the variants of earlier; what is to be said of it, empty when there are none."""
        try:
            saved = msgspec.json.decode((self.folder / "draft.json").read_bytes(), type=SavedEdit)
        except FileNotFoundError:
            return ""
        except (OSError, msgspec.DecodeError) as error:
            return f"An earlier draft of {self.kernel} in {self.folder} can't be read: {error}."
        if saved.version != VERSION:
            return f"An earlier draft of {self.kernel} in {self.folder} is of another version, and is left aside."
        self.variants = [each for each in saved.variants if os.path.exists(each.path)]
        text = self.handed_out() or saved.text
        if text in (saved.original, self.source.text):
            return ""
        self.text = text
        if saved.original == self.source.text:
            return f"The draft of {self.kernel} from before is back."
        return f"The draft of {self.kernel} from before is back; {os.path.basename(self.file)} changed since then."

    def keep_draft(self) -> None:
        """Write what is to be found again by a later session; `unkept` says why it could not be."""
        self.unkept = ""
        if self.text == self.source.text and not self.variants and not self.folder.exists():
            return
        saved = SavedEdit(
            version=VERSION,
            file=self.file,
            kernel=self.kernel,
            original=self.source.text,
            text=self.text,
            variants=self.variants,
        )
        try:
            state_files.write(self.folder / "draft.json", msgspec.json.format(msgspec.json.encode(saved)))
        except OSError as error:
            why = f"The draft of {self.kernel} can't be kept in {self.folder}: {error.strerror}."
            self.unkept = f"{why} {state_files.REMEDY}"

    def hand_out(self) -> None:
        """Have the draft in a file of its own. Raises OSError."""
        state_files.write(self.draft_file, self.text.encode() + b"\n")

    def handed_out(self) -> str:
        """The text of that file, empty where there is none. Raises PkdbError when it can't be read."""
        try:
            return self.draft_file.read_text(encoding="utf-8").removesuffix("\n")
        except FileNotFoundError:
            return ""
        except (OSError, UnicodeDecodeError) as error:
            raise PkdbError(f"{self.draft_file} can't be read: {error}.", "Mend it, or delete it.") from error

    # --- the file itself ---

    def _stat(self) -> tuple[int, ...]:
        try:
            found = os.stat(self.file)
        except OSError:
            return ()
        return found.st_mtime_ns, found.st_size, found.st_ino

    def look_at_file(self) -> None:
        """Note whether the file is another one than the editor knows."""
        seen = self._stat()
        if seen == self._seen:
            return
        name = os.path.basename(self.file)
        if not seen:
            self.warning = f"{name} is gone."
            return
        try:
            same = Path(self.file).read_bytes() == self.source.data
        except OSError as error:
            self.warning = f"{name} can't be read any more: {error.strerror}."
            return
        if same:
            self._seen = seen
        self.warning = "" if same else f"{name} was changed by another program since it was opened here."

    def take(self, source: KernelText) -> None:
        """The file as it is now."""
        self.source, self.warning = source, ""
        self._seen = self._stat()

    def save(self, *, anyway: bool) -> None:
        """Put the draft into the file; `anyway` also into one that somebody else has changed.

        Raises FileChanged where one was, PkdbError where it can't be written.
        """
        self.look_at_file()
        if self.warning and not anyway:
            raise FileChanged(
                self.warning,
                "`edit --save!` puts the kernel into it all the same, `edit --reload` takes the kernel from there.",
            )
        source = self.located() if self.warning else self.source
        last = source.first_line + self.text.count("\n")
        try:
            kernel_text.write(self.file, source.with_text(self.text))
        except OSError as error:
            text = f"{os.path.basename(self.file)} can't be written: {error.strerror}."
            raise PkdbError(text, "The draft is kept.") from error
        self.take(kernel_text.read(self.file, source.first_line, last))

    def begin_anew(self) -> None:
        """The program is started again, with the file as it is now. Raises PkdbError where the kernel isn't found."""
        self.take(self.located())
        self.original = Text(real(self.file), self.first_line, self.source.text)
        self.check, self.said, self.problems = EditCheck.CHECKING, "", ()
        self.stale = ""

    def located(self) -> KernelText:
        """The kernel in the file as it is now: where its old text stands, else by its name.

        Raises PkdbError where it can't be told.
        """
        name = os.path.basename(self.file)
        try:
            lines = Path(self.file).read_bytes().splitlines()
        except OSError as error:
            raise PkdbError(f"{name} can't be read: {error.strerror}.", "The draft is kept.") from error
        old = [line.encode(self.source.encoding) for line in self.source.text.split("\n")]
        found = [at for at in range(len(lines) - len(old) + 1) if lines[at : at + len(old)] == old]
        if len(found) == 1:
            return kernel_text.read(self.file, found[0] + 1, found[0] + len(old))
        return self._by_name(name)

    def _by_name(self, name: str) -> KernelText:
        try:
            tree = ast.parse(Path(self.file).read_bytes())
        except (OSError, SyntaxError, ValueError) as error:
            raise PkdbError(f"{name} can't be read as Python: {error}.", "The draft is kept.") from error
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == self.kernel]
        if len(nodes) != 1:
            raise PkdbError(f"{name} has {len(nodes)} functions {self.kernel} now.", "The draft is kept.")
        first = min([nodes[0].lineno, *(decorator.lineno for decorator in nodes[0].decorator_list)])
        return kernel_text.read(self.file, first, nodes[0].end_lineno or first)


def _last_name(decorator: ast.expr) -> str:
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
