"""What all panes share: rows drawn by the line API, a cursor, titles, and the messages panes send."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from pkdb_tui import keys
from pkdb_tui.panes.fitting import drawable
from pkdb_tui.panes.guard import Guarded, errors_shown
from pkdb_tui.panes.palette import Palette

Row = list[tuple[str, Style]]
PLAIN = Style()


class RunCommand(Message):
    """A pane asks for a command, as if it had been typed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class Inspect(Message):
    """A pane asks to show all there is to know of an expression's value."""

    def __init__(self, expression: str) -> None:
        super().__init__()
        self.expression = expression


class TitleChanged(Message):
    """A pane's title or badge is another one now."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, TitleChanged)


class LineNoted(Message):
    """There is something to say about where the cursor stands; nothing when the text is empty."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class Content(NamedTuple):
    """Everything a drawn row depends on."""

    row: Row
    tail: Row
    room: int
    under: Style
    stale: bool
    offset: int


class Pane(Guarded, ScrollView, can_focus=True):
    """Rows of styled text with a cursor; subclasses give `row_count` and `row`."""

    BINDINGS: ClassVar[list[BindingType]] = keys.pane_bindings("any")
    DEFAULT_CSS = """
    Pane {
        scrollbar-size: 1 1; scrollbar-size-horizontal: 0; overflow-x: hidden; background: transparent;
        scrollbar-color: $panel; scrollbar-color-hover: $panel; scrollbar-color-active: $primary;
        scrollbar-background: $background; scrollbar-background-hover: $background;
        scrollbar-background-active: $background; scrollbar-corner-color: $background;
    }
    """

    name_of_pane = ""
    help_text = ""
    cursor_shown = True
    frozen = 0  # columns at the left that stay when the rest is scrolled sideways

    def __init__(self, palette: Palette) -> None:
        super().__init__(id=self.name_of_pane or None)
        self.palette = palette
        self.cursor_row = 0
        self.offset_x = 0
        self.stale = False
        self._drawn: dict[int, Content | None] = {}  # by row of the screen

    # --- what subclasses say ---

    def row_count(self) -> int:
        return 0

    def row(self, index: int, width: int) -> Row:
        return []

    def rows_at(self, width: int) -> int:
        """How many rows there would be at a width."""
        return self.row_count()

    def tail(self, index: int) -> Row:
        """What stands at the right edge of a row, before its text gets the rest."""
        return []

    def row_style(self, index: int) -> Style:
        """What lies under all of a row."""
        here = self.cursor_shown and self.has_focus and self.item(index) == self.item(self.cursor_row)
        return self.palette.here_line if here else PLAIN

    @property
    def badge(self) -> str:
        """What stands behind the title, such as a count."""
        return ""

    @property
    def expression(self) -> str:
        """What the row under the cursor is about, where a value could be looked at; else empty."""
        return ""

    def item(self, index: int) -> object:
        """What a row shows: rows of the same item are one for the cursor."""
        return index

    def chosen(self, index: int) -> None:
        """Enter on a row."""

    # --- drawing ---

    def rows_changed(self) -> None:
        """To be called when the rows are others."""
        count = self.row_count()
        self.cursor_row = max(0, min(self.cursor_row, count - 1))
        self.set_height(count)
        self.refresh_rows()
        self.post_message(TitleChanged())

    def set_height(self, count: int) -> None:
        """How many rows there are to scroll over."""
        size = Size(1, count)
        if size == self.virtual_size:
            return
        if not self.container_size or (count > self.container_size.height) != self.show_vertical_scrollbar:
            self.virtual_size = size
            return
        # The scrollbar stays, or stays away: the screen needs no new layout.
        self.set_reactive(Widget.virtual_size, size)
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.window_virtual_size = count
        if self.scroll_y > self.max_scroll_y:
            self.scroll_to(y=self.max_scroll_y, animate=False, force=True, immediate=True)

    def refresh_rows(self) -> None:
        """Draw again the rows that look different now."""
        region = self.scrollable_content_region
        if not region.height:
            self.refresh()  # not on screen: whatever was drawn is out of date
            return
        for y in range(region.height):
            if self._drawn.get(y, ()) != self._content(y + self.scroll_offset.y, region.width):
                self.refresh(Region(0, y, region.width, 1))

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        with errors_shown(self.app):
            content = self._content(y + self.scroll_offset.y, width)
            self._drawn[y] = content
            return self._line(content, width)
        return Strip([Segment(" this line can't be drawn", self.palette.fault)]).adjust_cell_length(width)

    def _content(self, index: int, width: int) -> Content | None:
        if index >= self.row_count():
            return None
        tail = self.tail(index)
        room = max(width - sum(cell_len(text) for text, _ in tail), 1)
        return Content(self.row(index, room), tail, room, self.row_style(index), self.stale, self.offset_x)

    def _line(self, content: Content | None, width: int) -> Strip:
        if content is None:
            return Strip.blank(width, self.rich_style)
        room, under = content.room, content.under
        strip = self._strip(content.row, under)
        if self.offset_x:
            start = self.frozen + self.offset_x
            strip = Strip.join([strip.crop(0, self.frozen), strip.crop(start, max(strip.cell_length, start))])
        if strip.cell_length > room:
            strip = Strip([*strip.crop(0, room - 1), Segment("…", self.palette.dim + under)])
        strip = strip.adjust_cell_length(room, under)
        if content.tail:
            strip = Strip.join([strip, self._strip(content.tail, under)])
        return strip.apply_style(self.rich_style).simplify()

    def _strip(self, row: Row, under: Style) -> Strip:
        return Strip(
            [Segment(drawable(text), (self.palette.dim if self.stale else style) + under) for text, style in row]
        )

    def show_stale(self, stale: bool) -> None:
        """Whether what stands here is of a stop that is over."""
        if stale != self.stale:
            self.stale = stale
            self.refresh()

    # --- keys ---

    def move_cursor(self, index: int) -> None:
        count = self.row_count()
        if not count:
            return
        old = self._rows_of_item(self.cursor_row)
        self.cursor_row = self._rows_of_item(max(0, min(index, count - 1))).start
        new = self._rows_of_item(self.cursor_row)
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        for row in (new.stop - 1, new.start):
            if not top <= row < top + height:
                self.show_row(row)
        for row in {*old, *new}:
            self.refresh(Region(0, row - self.scroll_offset.y, self.size.width, 1))
        self.cursor_moved()

    def _rows_of_item(self, index: int) -> range:
        """The rows that show the same as this one."""
        item, first, last = self.item(index), index, index
        while first > 0 and self.item(first - 1) == item:
            first -= 1
        while last + 1 < self.row_count() and self.item(last + 1) == item:
            last += 1
        return range(first, last + 1)

    def cursor_moved(self) -> None:
        """The cursor stands on another row."""

    def show_row(self, index: int) -> None:
        """Scroll only as far as needed to have a row on screen with a little around it."""
        height = max(self.scrollable_content_region.height, 1)
        top = self.scroll_offset.y
        margin = min(3, max((height - 1) // 2, 0))
        if index < top + margin:
            top = index - margin
        elif index >= top + height - margin:
            top = index - height + 1 + margin
        else:
            return
        last = max(self.row_count() - height, 0)
        self.scroll_to(y=max(0, min(top, last)), animate=False, force=True, immediate=True)

    def action_cursor(self, step: int) -> None:
        rows = self._rows_of_item(self.cursor_row)
        self.move_cursor(rows.stop - 1 + step if step > 0 else rows.start + step)

    def action_page(self, step: int) -> None:
        target = max(0, min(self.cursor_row + step * max(self.size.height - 1, 1), self.row_count() - 1))
        if target in self._rows_of_item(self.cursor_row):
            self.action_cursor(step)  # an item of more rows than a page
        else:
            self.move_cursor(target)

    def action_edge(self, end: int) -> None:
        self.move_cursor(0 if end < 0 else self.row_count() - 1)

    def action_shift(self, step: int) -> None:
        top, size = self.scroll_offset.y, self.scrollable_content_region.size
        visible = range(top, min(top + size.height, self.row_count()))
        longest = max((sum(cell_len(text) for text, _ in self.row(y, size.width)) for y in visible), default=0)
        self.offset_x = max(0, min(self.offset_x + step, longest - size.width + 1))
        self.refresh()

    def action_choose(self) -> None:
        if self.row_count():
            self.chosen(self.cursor_row)

    def on_resize(self) -> None:
        if self.cursor_shown:
            self.show_row(self.row_in_view())

    def row_in_view(self) -> int:
        """The row that stays on screen at another size."""
        return self.cursor_row

    def on_focus(self) -> None:
        self.refresh()
        self.post_message(TitleChanged())

    def on_blur(self) -> None:
        self.refresh()
        self.post_message(TitleChanged())

    def on_click(self, event: object) -> None:
        y = getattr(event, "y", 0)
        self.move_cursor(self.scroll_offset.y + y)
