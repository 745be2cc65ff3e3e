"""Watch expressions: evaluated at every stop and in every frame looked at, changes marked, errors instead of values."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import msgspec

from pkdb_tui.engine.api import Evaluation, FrameKind, StopSnapshot, Watch
from pkdb_tui.engine.errors import NotHere, PkdbError, UsageError

if TYPE_CHECKING:
    from pkdb_tui.engine.looking import Looking

Place = tuple[str, str, int]  # file, function, kernel thread (-1 in Python)


class _History:
    """What one expression was worth where it was looked at; other functions and threads have other variables."""

    def __init__(self) -> None:
        self._seen: dict[Place, tuple[int, Evaluation, Evaluation | None]] = {}

    def before(self, place: Place, generation: int, now: Evaluation) -> Evaluation | None:
        """The value at the last stop at this place, `now` noted as that of this stop."""
        found = self._seen.get(place)
        previous = None if found is None else found[2] if found[0] == generation else found[1]
        self._seen[place] = (generation, now, previous)
        return previous


class WatchList:
    """The watches of a session; their values belong to one stop, frame and thread."""

    def __init__(self, looking: Looking) -> None:
        self._looking = looking
        self._watches: dict[int, Watch] = {}
        self._histories: dict[int, _History] = {}
        self._next = 1
        self._turn = 0  # the latest round of evaluations; an older one that is still under way gives up

    def public(self) -> tuple[Watch, ...]:
        return tuple(self._watches.values())

    async def add(self, expression: str) -> Watch:
        """The watch of an expression: a new one, or the one there is."""
        expression = expression.strip()
        if not expression:
            raise UsageError("A watch needs an expression.", "For example `display A[j, 0:4]`.")
        number = next((n for n, watch in self._watches.items() if watch.expression == expression), 0)
        if not number:
            number, self._next = self._next, self._next + 1
            self._watches[number] = Watch(id=number, expression=expression, evaluation=None)
            self._histories[number] = _History()
        if self._looking.can_evaluate:
            fresh = await self._evaluated(self._watches[number])
            if number in self._watches:
                self._watches[number] = fresh
            return fresh
        return self._watches[number]

    def remove(self, number: int) -> None:
        if number not in self._watches:
            raise UsageError(f"There is no watch {number}.", "`info watches` lists them.")
        del self._watches[number], self._histories[number]

    def forget_values(self) -> None:
        """The program begins anew."""
        self._turn += 1
        for number, watch in self._watches.items():
            self._watches[number] = Watch(id=number, expression=watch.expression, evaluation=None)
            self._histories[number] = _History()

    async def refresh(self, generation: int) -> bool:
        """Evaluate all where the person looks; False when there are none or that is over before they are done."""
        self._turn += 1
        turn = self._turn
        for number, watch in list(self._watches.items()):
            fresh = await self._evaluated(watch)
            if turn != self._turn or not self._looking.current(generation):
                return False
            if number in self._watches:
                self._watches[number] = fresh
        return bool(self._watches)

    async def _evaluated(self, watch: Watch) -> Watch:
        snapshot = self._looking.snapshot
        try:
            evaluation = await self._looking.evaluate_watch(watch.expression)
        except NotHere as error:
            return msgspec.structs.replace(watch, error=error.brief, changed=False, previous="")
        except PkdbError as error:
            return Watch(id=watch.id, expression=watch.expression, evaluation=None, error=error.title)
        history = self._histories.get(watch.id, _History())
        old = history.before(_place(snapshot), snapshot.generation, evaluation)
        changed = old is not None and _content(old) != _content(evaluation)
        if old is not None and old.slice is not None and evaluation.slice is not None:
            evaluation = _with_changes(old.slice, evaluation)
        return Watch(
            id=watch.id,
            expression=watch.expression,
            evaluation=evaluation,
            changed=changed,
            previous=old.text if changed and old is not None else "",
            seen=_place_text(snapshot),
        )


def _thread(snapshot: StopSnapshot) -> int:
    kernel = snapshot.location.kind is FrameKind.KERNEL
    return snapshot.focus.thread if kernel and snapshot.focus is not None else -1


def _place(snapshot: StopSnapshot) -> Place:
    return snapshot.location.file, snapshot.location.function, _thread(snapshot)


def _place_text(snapshot: StopSnapshot) -> str:
    frame, thread = snapshot.location, _thread(snapshot)
    text = f"{os.path.basename(frame.file)}:{frame.line}"
    return f"{text}, thread {thread}" if thread >= 0 else text


def _content(evaluation: Evaluation) -> Any:
    if evaluation.slice is not None:
        return evaluation.slice.shape, evaluation.slice.values.tobytes()
    return evaluation.text


def _with_changes(before: Any, evaluation: Evaluation) -> Evaluation:
    from pkdb_tui.engine.slices import changed

    part = evaluation.slice
    if part is None or part.values.shape != before.values.shape:
        return evaluation
    marked = msgspec.structs.replace(part, changed=tuple(changed(before, part)))
    return msgspec.structs.replace(evaluation, slice=marked)
