"""Runs inside gdb: placement, stacks, variables and memory, answered as JSON by commands of its own.

Python's standard library and gdb's module only. Commands are `-pkdb-NAME "JSON"` and answer `^done,json="JSON"`.
"""

import json
import os
import re
import signal
import sys

import gdb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import gdbside_values as values

PR_SET_PDEATHSIG = 1
WATCH_WORDS = 4  # debug registers of a processor, eight bytes each
THREADING = re.compile(r"^lib(g|i|)omp")
WAITING = re.compile(r"barrier|^gomp_|^GOMP_|^__kmp|futex|sched_yield")
MARK = re.compile(r"#pkdb\d+$")

stops = {}  # gdb thread number -> (kind, breakpoint numbers, detail) of its last stop
kernel = {}  # facts of the kernel under way: entry, name, binary, team
tables = {}  # binary -> {source name: {line: [addresses]}}


def python_name(name):
    """The Python file behind a source name, or an empty text for anything that isn't Python's."""
    plain = MARK.sub("", name or "")
    return plain if plain.endswith(".py") else ""


def go_with_parent():
    """Be killed by the system when whoever started gdb is; the end of its input is noticed only by a gdb that reads."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    except (ImportError, OSError, AttributeError):
        return  # a gdb with a smaller Python goes at the end of its input


go_with_parent()


class Command(gdb.MICommand):
    """An MI command that takes one JSON argument and answers JSON."""

    def __init__(self, name, function):
        super().__init__("-pkdb-" + name)
        self._function = function

    def invoke(self, argv):
        argument = json.loads(argv[0]) if argv else None
        return {"json": json.dumps(self._function(argument), ensure_ascii=True)}


def on_stop(event):
    """Remember why a thread stopped, with all breakpoints at its place."""
    thread = getattr(event, "inferior_thread", None) or gdb.selected_thread()
    if thread is None:
        return
    if isinstance(event, gdb.BreakpointEvent):
        stops[thread.num] = ("breakpoint", [b.number for b in event.breakpoints], "")
    elif isinstance(event, gdb.SignalEvent):
        stops[thread.num] = ("signal", [], event.stop_signal)
    else:
        stops[thread.num] = ("stop", [], "")


gdb.events.stop.connect(on_stop)


# --- symbols and placement ---


def base_address(binary):
    """Where a shared object is mapped in the process."""
    real = os.path.realpath(binary)
    with open(f"/proc/{gdb.selected_inferior().pid}/maps") as maps:
        for line in maps:
            fields = line.split(maxsplit=5)
            if len(fields) == 6 and os.path.realpath(fields[5].strip()) == real:
                return int(fields[0].split("-")[0], 16) - int(fields[2], 16)
    raise gdb.GdbError(f"{binary} is not loaded in the process")


def escaped(path):
    """A file name as one word of a command's arguments."""
    return re.sub(r"([^\w/.\-])", r"\\\1", path)


def quoted(name):
    """A file name as a linespec has it: it knows no escapes, but finds files by the last parts of their names."""
    parts = name.split("/")
    while len(parts) > 1 and any(mark in part for part in parts for mark in "'\""):
        parts.pop(0)
    return '"' + "/".join(parts) + '"'


def objfile_of(binary):
    real = os.path.realpath(binary)
    for objfile in gdb.objfiles():
        if objfile.filename and os.path.realpath(objfile.filename) == real:
            return objfile
    return None


def load(argument):
    """Read a kernel binary's symbols once; remember the kernel."""
    kernel.clear()
    kernel.update(argument)
    binary = argument["binary"]
    if objfile_of(binary) is None:
        base = base_address(binary)
        gdb.execute(f"add-symbol-file {escaped(binary)} -o {base}", to_string=True)
    if binary not in tables:
        tables[binary] = line_table(binary, argument["lines"], argument["sources"])
    return {}


def line_table(binary, lines, sources):
    """{source name: {line: [one address per function]}} of the sources named."""
    real = os.path.realpath(binary)
    found = {}
    wanted = {name: set(numbers) for name, numbers in lines.items()}
    for name, number in sources:
        wanted.setdefault(name, set()).add(number)
    for name, numbers in wanted.items():
        for number in sorted(numbers):
            for symtab in symtabs(name, number, real):
                if symtab.filename in wanted and symtab.filename not in found:
                    found[symtab.filename] = addresses_by_line(symtab)
    return found


def symtabs(name, line, real):
    try:
        _, locations = gdb.decode_line(f"{quoted(name)}:{line}")
    except gdb.error:
        return
    for location in locations or ():
        symtab = location.symtab
        if symtab is not None and os.path.realpath(symtab.objfile.filename) == real:
            yield symtab


def function_at(address):
    block = gdb.block_for_pc(address)
    while block is not None and block.function is None:
        block = block.superblock
    return None if block is None else block.function


def addresses_by_line(symtab):
    """For each line the lowest statement address in each function that has it."""
    lowest = {}
    for entry in symtab.linetable():
        if entry.line <= 0:
            continue
        block = gdb.block_for_pc(entry.pc)
        while block is not None and block.function is None:
            block = block.superblock
        start = block.start if block is not None else 0
        key = (entry.line, start)
        if key not in lowest or entry.pc < lowest[key]:
            lowest[key] = entry.pc
    found = {}
    for (line, _), address in lowest.items():
        found.setdefault(line, []).append(address)
    return found


def where(argument):
    """Addresses of a line in every loaded kernel binary, and the next line that has code."""
    source, line = argument["source"], argument["line"]
    addresses, following = [], 0
    for sources in tables.values():
        table = sources.get(source, {})
        addresses += table.get(line, [])
        later = [n for n in table if n > line]
        if later and (not following or min(later) < following):
            following = min(later)
    return {"addresses": sorted(addresses), "next": following, "known": any(source in s for s in tables.values())}


def functions(argument):
    """First-line addresses of functions of that name in Python sources."""
    found = []
    for sources in tables.values():
        for name, table in sources.items():
            if not python_name(name):
                continue
            by_function = {}
            for line, addresses in table.items():
                for address in addresses:
                    function = function_at(address)
                    if function is not None and plain_name(function.name) == argument["function"]:
                        by_function.setdefault(function.name, []).append((line, address))
            found += [min(places)[1] for places in by_function.values()]
    return {"addresses": sorted(found)}


def entry(argument):
    """First-line addresses of the function that is one workunit call."""
    found = {}
    for name, table in tables.get(kernel.get("binary"), {}).items():
        if not python_name(name):
            continue
        for line, addresses in table.items():
            for address in addresses:
                function = function_at(address)
                if function is None:
                    continue
                full = qualified(function.name)
                if full == kernel["entry"] or full.endswith("::" + kernel["entry"]):
                    found[function.name] = min(found.get(function.name, (line, address)), (line, address))
    return {"addresses": sorted(address for _, address in found.values())}


def symbol(argument):
    """Addresses of a function by name: in the kernel's binary, else anywhere."""
    objfile = objfile_of(argument["binary"])
    found = objfile.lookup_global_symbol(argument["symbol"]) if objfile is not None else None
    if found is not None:
        return {"addresses": [int(found.value().address)]}
    try:
        _, locations = gdb.decode_line(argument["symbol"])
    except gdb.error:
        return {"addresses": []}
    return {"addresses": [location.pc for location in locations or ()]}


def beyond(argument):
    """Where a thread leaves the lines up to its own: later lines of its function, and its caller.

    Returns the stack pointer too: a deeper call of the same function is not meant.
    """
    select(argument["thread"])
    frame = gdb.newest_frame()
    sal, function = frame.find_sal(), function_at(frame.pc())
    table = tables.get(kernel.get("binary"), {}).get(sal.symtab.filename if sal.symtab is not None else "", {})
    found = [
        address
        for line, addresses in table.items()
        if line > sal.line
        for address in addresses
        if same_function(function_at(address), function)
    ]
    if not is_entry(frame) and frame.older() is not None:
        found.append(frame.older().pc())
    return {"addresses": sorted(found), "stack": int(gdb.parse_and_eval("(unsigned long) $sp"))}


def same_function(one, other):
    return one is not None and other is not None and (one.name, one.line) == (other.name, other.line)


def outward(argument):
    """Let a thread run until it is back in the frame that is so many levels out."""
    select(argument["thread"])
    frame = gdb.newest_frame()
    for _ in range(argument["levels"] - 1):
        frame = frame.older()
    frame.select()
    gdb.execute("finish&", to_string=True)
    return {}


def insert(argument):
    """A breakpoint at an address; its gdb number."""
    text = f"*{argument['address']}"
    breakpoint = gdb.Breakpoint(text, internal=False, temporary=False)
    try:
        if argument.get("condition"):
            breakpoint.condition = argument["condition"]
        if argument.get("ignore"):
            breakpoint.ignore_count = argument["ignore"]
        if argument.get("thread"):
            breakpoint.thread = argument["thread"]
    except gdb.error as error:
        breakpoint.delete()
        raise gdb.GdbError(str(error)) from None
    return {"number": breakpoint.number}


def watch(argument):
    """A hardware watchpoint on an expression in a thread's selected kernel frame."""
    select(argument["thread"])
    frame = next(iter(kernel_frames()), None)
    if frame is not None:
        frame.select()
    if watched_words() + words(gdb.parse_and_eval(argument["expression"])) > WATCH_WORDS:
        raise gdb.GdbError(f"no hardware watchpoint is free: the processor has {WATCH_WORDS}")
    breakpoint = gdb.Breakpoint(argument["expression"], gdb.BP_WATCHPOINT, gdb.WP_WRITE)
    try:
        if breakpoint.type != gdb.BP_HARDWARE_WATCHPOINT:
            raise gdb.GdbError("this can't be watched by the processor")
        if argument.get("condition"):
            breakpoint.condition = argument["condition"]
    except gdb.error as error:
        breakpoint.delete()
        raise gdb.GdbError(str(error)) from None
    return {"number": breakpoint.number}


def words(value):
    """Debug registers that watching a value takes."""
    return (value.type.strip_typedefs().sizeof + 7) // 8


def watched_words():
    """Debug registers taken already; one that can't be evaluated any more has left its scope."""
    taken = 0
    for breakpoint in gdb.breakpoints():
        if breakpoint.type == gdb.BP_HARDWARE_WATCHPOINT:
            try:
                taken += words(gdb.parse_and_eval(breakpoint.expression))
            except gdb.error:
                taken += 1
    return taken


def remove(argument):
    wanted = set(argument["numbers"])
    for breakpoint in gdb.breakpoints():
        if breakpoint.number in wanted:
            breakpoint.delete()
    return {}


def enable(argument):
    wanted = set(argument["numbers"])
    for breakpoint in gdb.breakpoints():
        if breakpoint.number in wanted:
            breakpoint.enabled = argument["enabled"]
    return {}


# --- threads ---


def select(number):
    for thread in gdb.selected_inferior().threads():
        if thread.num == number:
            thread.switch()
            return thread
    raise gdb.GdbError(f"there is no thread {number}")


def team():
    """{lwp: kernel thread number} from the table the runtime keeps, empty without one."""
    name = kernel.get("team")
    objfile = objfile_of(kernel["binary"]) if kernel.get("binary") else None
    if not name or objfile is None:
        return {}
    symbol = objfile.lookup_global_symbol(name)
    if symbol is None:
        return {}
    address = int(symbol.value().address)
    memory = gdb.selected_inferior().read_memory(address, 4)
    size = min(int.from_bytes(bytes(memory), "little", signed=True), 1024)
    if size <= 0:
        return {}
    raw = bytes(gdb.selected_inferior().read_memory(address + 4, 4 * size))
    return {int.from_bytes(raw[4 * i : 4 * i + 4], "little", signed=True): i for i in range(size)}


def threads(argument):
    """All threads: gdb number, lwp, whether it is stopped; and the team."""
    listed = [[t.num, t.ptid[1], t.is_stopped()] for t in gdb.selected_inferior().threads() if t.is_valid()]
    return {"threads": listed, "team": [[lwp, number] for lwp, number in team().items()]}


def plain_name(name):
    """A function's own name: parameters, templates and namespaces cut off."""
    text = re.sub(r"\s*\[.*\]$", "", name or "")
    depth, kept = 0, []
    for ch in text:
        if ch in "<({":
            depth += 1
        if depth == 0:
            kept.append(ch)
        if ch in ">)}":
            depth -= 1
    joined = "".join(kept).strip()
    if "operator" in joined:
        return joined[joined.rindex("operator") :] + "()"
    return joined.rsplit("::", 1)[-1].split(" ")[-1]


def qualified(name):
    """The name with namespaces but without templates and parameters."""
    text, depth, kept = name or "", 0, []
    for position, ch in enumerate(text):
        if ch == "<":
            depth += 1
        if ch == "(" and depth == 0 and not text[:position].endswith("operator"):
            break
        if depth == 0:
            kept.append(ch)
        if ch == ">":
            depth -= 1
    return "".join(kept).strip()


def is_entry(frame):
    entry = kernel.get("entry", "")
    name = qualified(frame.name())
    # An optimised build's line tables know functions without their namespaces.
    return bool(entry) and (name == entry or name.endswith("::" + entry) or name == entry.rsplit("::", 1)[-1])


def kernel_frames(limit=64):
    """Frames from the newest to the entry, those that stand in Python lines."""
    frame = gdb.newest_frame()
    found = []
    for _ in range(limit):
        if frame is None:
            break
        sal = frame.find_sal()
        if sal.symtab is not None and python_name(sal.symtab.filename):
            found.append(frame)
        if is_entry(frame):
            break
        try:
            frame = frame.older()
        except gdb.error:
            break
    return found


def all_frames(watched=False, limit=64):
    """(frame, whether it is glue) from the newest down to the entry; empty when no Python line is among them."""
    frame, found, useful = gdb.newest_frame(), [], False
    for _ in range(limit):
        if frame is None:
            break
        # A watchpoint stops behind the instruction that wrote.
        sal = gdb.find_pc_line(frame.pc() - 1) if watched and frame.level() == 0 else frame.find_sal()
        python = bool(sal.symtab is not None and python_name(sal.symtab.filename))
        useful = useful or python
        found.append((frame, not python))
        if is_entry(frame):
            break
        try:
            frame = frame.older()
        except gdb.error:
            break
    return found if useful else []


def entry_level(limit=512):
    """How many frames lie between the newest and the workunit call; -1 outside of one."""
    frame = gdb.newest_frame()
    for level in range(limit):
        if frame is None:
            return -1
        if is_entry(frame):
            return level
        try:
            frame = frame.older()
        except gdb.error:
            return -1
    return -1


def in_barrier(limit=12):
    """Whether a thread is in code that waits for other threads, below the innermost Python line."""
    frame = gdb.newest_frame()
    if THREADING.search(os.path.basename(gdb.solib_name(frame.pc()) or "")):
        return True
    for _ in range(limit):
        if frame is None:
            return False
        sal = frame.find_sal()
        if sal.symtab is not None and python_name(sal.symtab.filename):
            return False
        if WAITING.search(frame.name() or ""):
            return True
        try:
            frame = frame.older()
        except gdb.error:
            return False
    return False


def frame_body(frame, glue, watched=False):
    sal = frame.find_sal()
    if watched and frame.level() == 0:
        sal = gdb.find_pc_line(frame.pc() - 1)
    name = kernel.get("name", "") if is_entry(frame) else plain_name(frame.name())
    file = sal.symtab.filename if sal.symtab is not None else ""
    return {
        "level": frame.level(),
        "function": name or "?",
        "file": python_name(file) or file,
        "line": sal.line,
        "glue": glue,
    }


def place(argument):
    """Where each of some stopped threads is, and why it stopped."""
    answer = []
    for number in argument["threads"]:
        body = {"thread": number, "file": "", "line": 0, "function": "", "pc": 0}
        try:
            select(number)
            kind, numbers, detail = stops.get(number, ("stop", [], ""))
            body.update(kind=kind, breakpoints=numbers, detail=detail, pc=gdb.newest_frame().pc())
            sal = gdb.newest_frame().find_sal()
            body["source"] = sal.symtab.filename if sal.symtab is not None else ""
            body["innermost"] = qualified(gdb.newest_frame().name())
            frames = kernel_frames()
            if frames:
                body.update(
                    {k: v for k, v in frame_body(frames[0], False).items() if k in ("file", "line", "function")}
                )
            body["at_top"] = bool(frames) and frames[0] == gdb.newest_frame()
            body["depth"] = frames[0].level() if frames else -1
            body["stack"] = entry_level()
            body["barrier"] = in_barrier()
        except gdb.error as error:
            body.update(kind="error", breakpoints=[], detail=str(error))
        answer.append(body)
    return answer


def fault(argument):
    """The address a signal is about, or the message of a failed bounds check."""
    select(argument["thread"])
    if argument["what"] == "message":
        pointer = gdb.newest_frame().read_register("rdi" if "rdi" in registers() else "x0")
        return pointer.cast(gdb.lookup_type("char").pointer()).string(errors="replace", length=-1)
    try:
        return int(gdb.parse_and_eval("$_siginfo._sifields._sigfault.si_addr"))
    except gdb.error:
        return 0


def registers():
    return {r.name for r in gdb.newest_frame().architecture().registers()}


def unwindable(argument):
    """Read the unwind tables of the libraries that threads stand in, those not read yet."""
    wanted = set()
    for number in argument["threads"]:
        select(number)
        name = gdb.solib_name(gdb.newest_frame().pc())
        if name and objfile_of(name) is None:
            wanted.add(re.escape(os.path.basename(name)))
    for name in wanted:
        gdb.execute(f"sharedlibrary {name}", to_string=True)
    return {}


# --- looking ---


def view(argument):
    """Frames of a thread and the variables of its innermost kernel frame, in one answer."""
    select(argument["thread"])
    frames = all_frames(argument.get("watched", False))
    bodies = [frame_body(frame, glue, argument.get("watched", False)) for frame, glue in frames]
    innermost = next((frame for frame, glue in frames if not glue), None)
    listed = values.variables(innermost) if innermost is not None else []
    return {"frames": bodies, "level": innermost.level() if innermost is not None else -1, "variables": listed}


def variables(argument):
    select(argument["thread"])
    for frame, _ in all_frames():
        if frame.level() == argument["level"]:
            return values.variables(frame)
    raise gdb.GdbError(f"there is no frame {argument['level']}")


def variables_of_threads(argument):
    names = set(argument["names"])
    answer = []
    for number in argument["threads"]:
        select(number)
        frame = next(iter(kernel_frames()), None)
        answer.append([number, values.variables(frame, names) if frame is not None else []])
    return answer


def read(argument):
    """Bytes at (address, length) pairs, as hex."""
    inferior = gdb.selected_inferior()
    answer = []
    for address, length in argument["regions"]:
        try:
            answer.append(bytes(inferior.read_memory(address, length)).hex())
        except gdb.MemoryError:
            raise gdb.GdbError(f"the memory at {address:#x} can't be read") from None
    return answer


def write(argument):
    try:
        gdb.selected_inferior().write_memory(argument["address"], bytes.fromhex(argument["data"]))
    except gdb.MemoryError:
        raise gdb.GdbError(f"the memory at {argument['address']:#x} can't be written") from None
    return {}


for name, function in {
    "load": load, "entry": entry, "symbol": symbol, "where": where, "functions": functions, "beyond": beyond,
    "insert": insert, "watch": watch, "remove": remove, "enable": enable, "outward": outward,
    "threads": threads, "place": place, "fault": fault, "unwindable": unwindable, "view": view,
    "variables": variables, "variables-of-threads": variables_of_threads, "read": read, "write": write,
}.items():  # fmt: skip
    Command(name, function)
