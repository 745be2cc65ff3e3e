"""What each engine event changes on the screen."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pkdb_tui.engine.api import (
    BreakpointsChanged,
    EditChanged,
    Event,
    ExitCause,
    Exited,
    InputWanted,
    LaunchLogged,
    LogPoint,
    Notice,
    Phase,
    PhaseChanged,
    Printed,
    ProgramOutput,
    Progress,
    Reason,
    Severity,
    SnapshotChanged,
    Stopped,
    StopSnapshot,
    WatchesChanged,
)
from pkdb_tui.panes.status import FAULTS

if TYPE_CHECKING:
    from pkdb_tui.app import PkdbApp


RUNS_ON = 0.2  # seconds after which a program that goes on is more than a step


class EventShower:
    """Turns events into what panes show, each in one batch."""

    def __init__(self, app: PkdbApp) -> None:
        self._app = app
        self._generation = -1
        self._described = False
        self._resumed = 0  # how often the program has gone on

    def show(self, event: Event) -> None:
        with self._app.batch_update():
            self._show(event)

    def _show(self, event: Event) -> None:
        app, workspace = self._app, self._app.workspace
        match event:
            case Stopped(snapshot=snapshot) | SnapshotChanged(snapshot=snapshot):
                self._stopped(snapshot, new=isinstance(event, Stopped))
            case PhaseChanged(phase=phase):
                self._phase(phase)
            case ProgramOutput(data=data, dropped=dropped):
                workspace.output.append(data, dropped)
            case InputWanted(wanted=wanted):
                workspace.output.show_wanted(wanted)
                app.status.show_wanted(wanted)
                if wanted:
                    workspace.peek("output")
                app.key_line.refresh()
            case BreakpointsChanged(breakpoints=breakpoints):
                workspace.source.show_breakpoints(breakpoints)
                workspace.breakpoints.show(breakpoints)
            case WatchesChanged(watches=watches):
                workspace.watches.show(watches)
            case LaunchLogged(launches=launches):
                workspace.launches.show(launches)
            case LogPoint(text=text):
                workspace.console.say(text)
            case Printed(text=text):
                workspace.console.print(text)
            case Notice(text=text, severity=severity):
                write = {Severity.INFO: workspace.console.say, Severity.WARNING: workspace.console.warn}
                write.get(severity, workspace.console.complain)(text)
                app.note(text, fault=severity is Severity.ERROR, notice=True)
            case Progress():
                app.status.show_progress(event)
            case EditChanged(edit=edit):
                if app.edit_screen is not None and app.edit_screen.is_attached:
                    app.edit_screen.show(edit)
            case Exited(cause=cause):
                app.status.show_exit(cause)
                workspace.show_stale(False)
                for pane in (workspace.variables, workspace.threads):
                    pane.show(None)
                workspace.source.show_stop(None)
                workspace.stack.show_end(cause)
                workspace.show_threads(False)
                if workspace.output.news:
                    workspace.peek("output")  # what it said last tells why it ended
                self._tell_end(cause)

    def _tell_end(self, cause: ExitCause) -> None:
        app = self._app
        app.workspace.console.say(f"exited: {cause.text}")
        stack = ""
        if cause.exception is not None:
            app.workspace.console.tell_stop(cause.exception.traceback.rstrip("\n"), fault=False)
            stack = f" {app.workspace.leading['stack']} shows its traceback,"
        app.key_line.say(f"The program ended: {cause.text}.{stack} R runs it again, q leaves.")

    def _phase(self, phase: Phase) -> None:
        app = self._app
        app.status.show_phase(phase)
        app.key_line.refresh()
        app.workspace.output.show_reads(phase is not Phase.EXITED)
        if phase.running:
            self._resumed += 1
            app.set_timer(RUNS_ON, partial(self._runs_on, self._resumed))
        if phase is Phase.RUNNING_PYTHON and not self._described:
            self._described = True
            session = app.bridge.session
            app.status.runtime = session.runtime
            if session.runtime.startswith("embedded"):
                app.workspace.console.say(f"{session.runtime}: see docs/minikokkos.md")
            if app.workspace.source.path:
                app.describe(app.workspace.source.path)
            size = app.workspace.terminal_size()
            session.resize_terminal(size.width, size.height)
        if phase is Phase.IDLE:
            self._described = False
            app.workspace.source.forget_files()
            app.workspace.forget_needs()

    def _runs_on(self, resumed: int) -> None:
        """No step: what is on screen is not where the program is any more."""
        if resumed == self._resumed and self._app.bridge.phase.running:
            self._app.workspace.source.show_running()
            self._app.workspace.show_stale(True)

    def _stopped(self, snapshot: StopSnapshot, *, new: bool) -> None:
        if snapshot.generation < self._generation:
            return  # a late answer about a stop that is over
        self._generation = snapshot.generation
        app, workspace = self._app, self._app.workspace
        if new and snapshot.reason is not Reason.START:
            app.key_line.clear()
        if new:
            app.run_worker(app.bridge.arrived(snapshot.generation), group="commands")
            workspace.end_peek()
            workspace.console.tell_stop(app.bridge.stop_text(snapshot), fault=snapshot.reason in FAULTS)
        workspace.show_stale(False)
        app.status.show_stop(snapshot)
        workspace.source.show_stop(snapshot)
        workspace.stack.show(snapshot)
        workspace.variables.show(snapshot)
        workspace.generated.show(snapshot)
        workspace.threads.show(snapshot)
        workspace.show_threads(bool(snapshot.threads) or len(snapshot.python_threads) > 1)
        app.key_line.refresh()
