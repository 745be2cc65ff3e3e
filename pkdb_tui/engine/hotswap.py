"""The substitutions a person asked for, kept over restarts; the program's side resolves and applies them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from pkdb_tui.engine.api import Substitution
from pkdb_tui.engine.errors import PkdbError, UsageError
from pkdb_tui.engine.protocol import SubstitutionBody, SubstitutionRequest

Request = dict[str, Any]


class Asks(Protocol):
    """The connection to the program's side."""

    @property
    def connected(self) -> bool: ...
    async def request(self, command: str, **arguments: Any) -> Mapping[str, Any]: ...


class Substitutions:
    """By number; one rule for a kernel at a line, or at all of them: a new one takes the place of the old."""

    def __init__(self, connection: Asks) -> None:
        self._connection = connection
        self._rules: dict[int, Substitution] = {}
        self._next = 1

    def public(self) -> tuple[Substitution, ...]:
        return tuple(self._rules.values())

    async def add(self, kernel: str, replacement: str, file: str, line: int, frame: int) -> Substitution:
        """Raises PkdbError when the kernels can't stand for each other; the rules stay as they were then."""
        made = Substitution(id=self._next, kernel=kernel, replacement=replacement, file=file, line=line)
        body = await self._connection.request("addSubstitution", rule=_request(made), frame=frame)
        self._next += 1
        same = [r.id for r in self._rules.values() if (r.kernel, r.file, r.line) == (kernel, file, line)]
        for number in same:
            del self._rules[number]
        self._rules[made.id] = made
        self._take([body])
        if same:
            await self.send()
        return self._rules[made.id]

    async def install(self, rule: Substitution) -> Substitution:
        """An edited text of a kernel in place of the kernel; the one that stood there before goes.

        Raises PkdbError for a line that launches nothing; the rules stay as they were then.
        """
        made = msgspec.structs.replace(rule, id=self._next)
        kept = self._rules
        self._rules = {number: each for number, each in kept.items() if not _same(each, made)} | {made.id: made}
        try:
            await self.send()
        except PkdbError:
            self._rules = kept
            raise
        self._next += 1
        return self._rules[made.id]

    async def remove(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            del self._rules[self.known(number)]
        await self.send()

    async def enable(self, numbers: Iterable[int], enabled: bool) -> None:
        for number in numbers:
            rule = self._rules[self.known(number)]
            self._rules[number] = msgspec.structs.replace(rule, enabled=enabled)
        await self.send()

    def known(self, number: int) -> int:
        if number not in self._rules:
            raise UsageError(f"There is no substitution {number}.", "`hotswap` lists them.")
        return number

    async def send(self) -> None:
        """The whole set, to a program that runs."""
        if self._connection.connected:
            body = await self._connection.request("setSubstitutions", rules=[_request(r) for r in self._rules.values()])
            self._take(body["substitutions"])

    async def refresh(self) -> None:
        """What became of each rule meanwhile; as it was last known where the program can't answer."""
        if self._connection.connected and self._rules:
            try:
                self._take((await self._connection.request("substitutions"))["substitutions"])
            except PkdbError:
                return

    def forget_bindings(self) -> None:
        """A new program: names are looked up again."""
        for number, rule in self._rules.items():
            self._rules[number] = msgspec.structs.replace(rule, state="pending", reason="", uses=0)

    def _take(self, bodies: Sequence[Mapping[str, Any]]) -> None:
        for raw in bodies:
            body = msgspec.convert(raw, SubstitutionBody)
            rule = self._rules.get(body.id)
            if rule is not None:
                self._rules[body.id] = msgspec.structs.replace(
                    rule, state=body.state, reason=body.reason, uses=body.uses
                )


def _same(one: Substitution, other: Substitution) -> bool:
    """Whether two rules are about the same launches, as far as the names tell."""
    if one.origin and other.origin and (one.origin, one.first_line) != (other.origin, other.first_line):
        return False
    return (one.kernel, one.file, one.line) == (other.kernel, other.file, other.line)


def _request(rule: Substitution) -> Request:
    asked = SubstitutionRequest(
        id=rule.id,
        kernel=rule.kernel,
        replacement=rule.replacement,
        file=rule.file,
        line=rule.line,
        enabled=rule.enabled,
        source=rule.source,
        origin=rule.origin,
        firstLine=rule.first_line,
    )
    return dict(msgspec.to_builtins(asked))
