"""Writing JSON: results of scripts and arguments of tools.

Most values are written by the standard encoder, with `plain` for what it does
not know. Where that fails, a slower walk finds the place and says what is wrong
there: "result.rows[3].f is a function and cannot become JSON; use plain data".
"""

from json import dumps

from .plain import Unfit, key_text, plain

MAX_DEPTH = 128
MAX_NODES = 1_000_000


def encode(value, root):
    """Returns the JSON of value as UTF-8; root names the value in errors."""
    try:
        text = dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=plain)
    except (TypeError, ValueError, RecursionError, Unfit):
        text = dumps(_Walk(root).value(value), ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:  # halves of surrogate pairs
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


class _Walk:
    """Makes plain data of a value and knows where in it it is."""

    def __init__(self, root):
        self.root, self.path, self.open, self.nodes = root, [], [], 0

    def value(self, value):
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise self.unfit(f"is beyond the first {MAX_NODES} values", "write the data to a file in /workspace and use a summary")
        if value is None or isinstance(value, (str, bool)):
            return value
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            return float(value) if value - value == 0 else None
        return self.container(value)

    def container(self, value):
        if any(value is one for one in self.open):
            at = next(i for i, one in enumerate(self.open) if one is value)
            raise self.unfit("refers back to " + self.place(at), "JSON has no cycles")
        if len(self.open) >= MAX_DEPTH:
            raise self.unfit(f"is nested more than {MAX_DEPTH} levels deep", "flatten it")
        self.open.append(value)
        try:
            return self.members(value)
        finally:
            self.open.pop()

    def members(self, value):
        if isinstance(value, dict):
            return self.mapping(value)
        if isinstance(value, (list, tuple)):
            return [self.at(i, item) for i, item in enumerate(value)]
        try:
            return self.value(plain(value))
        except Unfit as problem:
            raise self.unfit(problem.what, problem.advice) from None

    def mapping(self, value):
        keys = [key_text(key) for key in value]
        if None in keys:  # as a Map with such keys in JavaScript: a list of pairs
            return [[self.at(i, key), self.at(i, item)] for i, (key, item) in enumerate(value.items())]
        return {key: self.at(key, item) for key, item in zip(keys, value.values())}

    def at(self, step, value):
        self.path.append(step)
        result = self.value(value)
        self.path.pop()
        return result

    def unfit(self, what, advice):
        return TypeError(f"{self.place(len(self.path))} {what} and cannot become JSON; {advice}")

    def place(self, steps):
        text = self.root
        for step in self.path[:steps]:
            text += f"[{step}]" if isinstance(step, int) else f".{step[:60]}"
        return text
