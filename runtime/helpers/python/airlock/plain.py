"""Objects that are more than their members: how each becomes plain data.

Types of libraries are told by the name of their module, since importing the
library to ask would cost more than the script.
"""

import base64
import datetime
import decimal
import enum
import fractions
import os
import types
import uuid
from collections import abc


class Unfit(Exception):
    """A value that JSON cannot hold."""

    def __init__(self, what, advice):
        super().__init__(what)
        self.what, self.advice = what, advice


def plain(value):
    """Returns something simpler that says the same, or raises Unfit."""
    for kinds, convert in _KINDS:
        if isinstance(value, kinds):
            return convert(value)
    library = _LIBRARIES.get(type(value).__module__.partition(".")[0])
    if library is not None:
        return library(value)
    if hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        return {name: getattr(value, name) for name in value.__dataclass_fields__}
    raise Unfit(f"is {_described(value)}", "use plain data: numbers, text, lists and dicts")


def key_text(key):
    """Returns how a dict's key looks in JSON; None for what no key can be."""
    if isinstance(key, str):
        return str(key)
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    if isinstance(key, (int, float)):
        return repr(key + 0)
    if type(key).__module__ == "numpy" and hasattr(key, "item"):
        return key_text(key.item())
    if isinstance(key, (datetime.date, datetime.time, enum.Enum, uuid.UUID, decimal.Decimal)):
        return str(plain(key))
    return None


def _described(value):
    if isinstance(value, type):
        return f"the class {value.__name__}"
    name = type(value).__name__
    return f"{'an' if name[:1] in 'AEIOUaeiou' else 'a'} {name}"


def _refuse(what, advice):
    def refuse(_value):
        raise Unfit(what, advice)

    return refuse


def _decimal(value):
    """A number where a number says the same, else its digits as text."""
    if not value.is_finite():
        return None
    if value == value.to_integral_value():
        return int(value)
    return float(value) if decimal.Decimal(repr(float(value))) == value else str(value)


def _set(value):
    try:
        return sorted(value)
    except TypeError:
        return list(value)


def _time(value):
    return value.isoformat() if value == value else None  # pandas' NaT is not equal to itself


def _bytes(value):
    raw = bytes(value)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return base64.b64encode(raw).decode()


_KINDS = (
    ((datetime.date, datetime.time), _time),
    (datetime.timedelta, lambda value: value.total_seconds() if value == value else None),
    (decimal.Decimal, _decimal),
    (fractions.Fraction, float),
    (enum.Enum, lambda value: value.value),
    (uuid.UUID, str),
    (os.PathLike, os.fspath),
    ((bytes, bytearray, memoryview), _bytes),
    (BaseException, lambda value: {"name": type(value).__name__, "message": str(value)}),
    ((abc.Coroutine, abc.Awaitable), _refuse("is a coroutine", "await it first")),
    ((types.FunctionType, types.BuiltinFunctionType, types.MethodType), _refuse("is a function", "call it, or use plain data")),
    (types.ModuleType, _refuse("is a module", "use plain data")),
    (complex, _refuse("is a complex number", "use its .real and .imag")),
    ((abc.Set, abc.KeysView), _set),
    (abc.Mapping, dict),
    (range, list),
    (abc.ValuesView, list),
    (abc.Iterator, _refuse("is an iterator", "collect it with list()")),
    (abc.Sequence, list),
)


def _numpy(value):
    if type(value).__name__ == "ndarray":
        return [_scalar(item) for item in value.tolist()] if value.dtype.kind in "mM" else value.tolist()
    if not hasattr(value, "item"):
        raise Unfit(f"is {_described(value)}", "use plain data")
    return _scalar(value)


def _scalar(value):
    if type(value).__name__ in ("datetime64", "timedelta64"):
        text = str(value)
        return None if text == "NaT" else text
    value = value.item() if hasattr(value, "item") else value
    return value if not isinstance(value, (datetime.date, datetime.timedelta)) else plain(value)


def _pandas(value):
    kind = type(value).__name__
    if kind == "DataFrame":
        return _frame(value)
    if kind == "Series":
        return list(value.tolist()) if _is_numbered(value.index) else _series(value)
    if kind in ("NAType", "NaTType"):
        return None
    if kind in ("Interval", "Period"):
        return str(value)
    if hasattr(value, "tolist"):  # an index or an array
        return value.tolist()
    raise Unfit(f"is {_described(value)}", "use a DataFrame, or plain data")


def _frame(frame):
    """A list of records; an index that says something becomes columns."""
    if not _is_numbered(frame.index):
        taken = {str(column) for column in frame.columns}
        names = [name for name in frame.index.names if name is None or str(name) not in taken]
        frame = frame.reset_index() if len(names) == len(frame.index.names) else frame.reset_index(drop=True)
    columns = [_column(column) for column in frame.columns]
    lists = [frame.iloc[:, i].tolist() for i in range(len(columns))]
    return [dict(zip(columns, row)) for row in zip(*lists)]


def _column(name):
    return " ".join(str(part) for part in name if part != "") if isinstance(name, tuple) else key_text(name) or str(name)


def _series(series):
    if series.index.nlevels > 1 or not series.index.is_unique:
        return _frame(series.to_frame(series.name if series.name is not None else "value"))
    return dict(zip(series.index.tolist(), series.tolist()))


def _is_numbered(index):
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1 and index.name is None


def _sympy(value):
    if getattr(value, "is_Integer", False):
        return int(value)
    if getattr(value, "is_Float", False):
        return float(value)
    return str(value)


def _plotly(value):
    if hasattr(value, "to_plotly_json"):
        return value.to_plotly_json()
    raise Unfit(f"is {_described(value)}", "use plain data")


_DRAWING = _refuse("is a part of a chart", 'save the chart with plt.savefig("/artifacts/chart.png") and return its path')
_LIBRARIES = {
    "numpy": _numpy, "pandas": _pandas, "sympy": _sympy, "plotly": _plotly,
    "matplotlib": _DRAWING, "seaborn": _DRAWING, "mpl_toolkits": _DRAWING,
}  # fmt: skip
