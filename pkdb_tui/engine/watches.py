"""Watch expressions: evaluated at every stop, changes marked, errors shown instead of values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pkdb_tui.engine.api import Evaluation, Watch
from pkdb_tui.engine.errors import PkdbError, UsageError

if TYPE_CHECKING:
    from pkdb_tui.engine.looking import Looking


class WatchList:
    """The watches of a session; their values belong to one stop."""

    def __init__(self, looking: Looking) -> None:
        self._looking = looking
        self._watches: dict[int, Watch] = {}
        self._next = 1

    def public(self) -> tuple[Watch, ...]:
        return tuple(self._watches.values())

    async def add(self, expression: str) -> Watch:
        expression = expression.strip()
        if not expression:
            raise UsageError("A watch needs an expression.", "For example `watch A[j, 0:4]`.")
        number, self._next = self._next, self._next + 1
        self._watches[number] = Watch(id=number, expression=expression, evaluation=None)
        if self._looking.can_evaluate:
            self._watches[number] = await self._evaluated(self._watches[number])
        return self._watches[number]

    def remove(self, number: int) -> None:
        if number not in self._watches:
            raise UsageError(f"There is no watch {number}.", "`info watches` lists them.")
        del self._watches[number]

    async def refresh(self, generation: int) -> bool:
        """Evaluate all at a stop; False when there are none or the stop is over before they are done."""
        for number, watch in list(self._watches.items()):
            fresh = await self._evaluated(watch)
            if not self._looking.current(generation):
                return False
            if number in self._watches:
                self._watches[number] = fresh
        return bool(self._watches)

    async def _evaluated(self, watch: Watch) -> Watch:
        try:
            evaluation = await self._looking.evaluate_watch(watch.expression)
        except PkdbError as error:
            return Watch(id=watch.id, expression=watch.expression, evaluation=None, error=error.title)
        old = watch.evaluation
        changed = old is not None and _text(old) != _text(evaluation)
        if old is not None and old.slice is not None and evaluation.slice is not None:
            evaluation = _with_changes(old.slice, evaluation)
        return Watch(
            id=watch.id,
            expression=watch.expression,
            evaluation=evaluation,
            changed=changed,
            previous=old.text if changed and old is not None else "",
        )


def _text(evaluation: Evaluation) -> Any:
    if evaluation.slice is not None:
        return evaluation.slice.shape, evaluation.slice.values.tobytes()
    return evaluation.text


def _with_changes(before: Any, evaluation: Evaluation) -> Evaluation:
    import msgspec

    from pkdb_tui.engine.slices import changed

    part = evaluation.slice
    if part is None or part.values.shape != before.values.shape:
        return evaluation
    marked = msgspec.structs.replace(part, changed=tuple(changed(before, part)))
    return msgspec.structs.replace(evaluation, slice=marked)
