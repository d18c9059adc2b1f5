"""Running one script, from its text to the JSON of its result or of its error."""

import builtins
import linecache
import sys

from .encode import encode
from .program import Returned, compile_script
from .thrown import describe

NOTHING = object()


class TooLarge(Exception):
    """The result is beyond the limit."""


def run(code, name, result_bytes):
    """Runs a script and returns (end, value, error).

    end is "ok", "error" or "memory"; value the JSON of the result as bytes, or None
    if there is none; error a dict as in the protocol, or None. What the script
    raises, it raises to here.
    """
    lines = code.splitlines(keepends=True)
    linecache.cache[name] = (len(code), None, lines, name)
    try:
        value = _result(_execute(code, name), result_bytes)
    except MemoryError:
        return "memory", None, None
    except TooLarge as problem:
        hint = "return a summary, and write the whole to a file in /artifacts or /workspace"
        return "error", None, {"name": "ResultTooLarge", "message": str(problem), "hint": hint}
    except SystemExit as leaving:
        if leaving.code is None or leaving.code == 0:
            return "ok", None, None
        return "error", None, describe(leaving, name)
    except BaseException as problem:
        return "error", None, describe(problem, name)
    return "ok", value, None


def _execute(code, name):
    """Runs the script's code and returns its result, NOTHING if it has none."""
    program = compile_script(code, name)
    module = type(sys)("__main__")
    space = module.__dict__
    space.update(__builtins__=builtins, __name__="__main__", __file__=name)
    sys.modules["__main__"] = module
    last = None
    try:
        last = program.run(space)
    except Returned as returned:
        return returned.value[0] if returned.value else NOTHING
    if "result" in space:
        return space["result"]
    return NOTHING if last is None or _is_drawing(last) else last


def _is_drawing(value):
    """A chart's part is what drawing functions happen to return, not a result."""
    for _ in range(2):  # plt.hist gives a tuple that holds a list of bars
        if isinstance(value, (list, tuple)) and value:
            value = value[-1]
    return type(value).__module__.partition(".")[0] in ("matplotlib", "seaborn", "mpl_toolkits")


def _result(value, limit):
    if value is NOTHING:
        return None
    text = encode(value, "result")
    if len(text) > limit:
        raise TooLarge(f"the result is {len(text)} bytes of JSON, the limit is {limit}")
    return text
