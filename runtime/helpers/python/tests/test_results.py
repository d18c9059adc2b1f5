"""What becomes the result of a script, and what its errors say."""

import json
import unittest

from airlock.script import run


def ran(code, limit=10_000):
    end, value, error = run(code, "script", limit)
    return end, None if value is None else json.loads(value), error


class Results(unittest.TestCase):
    def test_where_a_result_comes_from(self):
        for code, want in {
            "": None,
            "1 + 1": 2,
            "result = 5\n'other'": 5,
            "x = 1": None,
            "print": "error",
            "if True:\n    return [1, 2]\nprint('never')": [1, 2],
            "return": None,
            "def f():\n    return 3\nf()": 3,
            "import asyncio\nawait asyncio.sleep(0)\n7": 7,
            "import asyncio\nasync def f(): return 8\nasyncio.run(f())": 8,
            "class A:\n    def f(self): return 9\nA().f()": 9,
            "__name__": "__main__",
            "try:\n    return 1\nexcept Exception:\n    return 2": 1,
        }.items():
            with self.subTest(code):
                end, value, _ = ran(code)
                self.assertEqual("error" if end == "error" else value, want)

    def test_values_that_are_more_than_plain(self):
        for code, want in {
            "(1, 2)": [1, 2],
            "{3, 1, 2}": [1, 2, 3],
            "{1: 'a', None: 'b', True: 'c'}": {"1": "c", "null": "b"},
            "{(1, 2): 3}": [[[1, 2], 3]],
            "[float('nan'), float('inf')]": [None, None],
            "2 ** 70": 2**70,
            "import datetime\n[datetime.date(2020, 1, 2), datetime.timedelta(minutes=1)]": ["2020-01-02", 60.0],
            "from decimal import Decimal as D\n[D('12.30'), D('5'), D('0.1234567890123456789'), D('NaN')]": [12.3, 5, "0.1234567890123456789", None],
            "import uuid, pathlib\n[uuid.UUID(int=1), pathlib.Path('/a')]": ["00000000-0000-0000-0000-000000000001", "/a"],
            "from enum import Enum\nclass E(Enum):\n    A = 'x'\nE.A": "x",
            "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\nP(2)": {"x": 2},
            "from collections import Counter\nCounter('aab')": {"a": 2, "b": 1},
            "ValueError('no')": {"name": "ValueError", "message": "no"},
            "'\\ud83d\\ude00 \\ud800'": "😀 \ufffd",
            "b'text'": "text",
        }.items():
            with self.subTest(code):
                self.assertEqual(ran(code), ("ok", want, None))

    def test_values_that_json_cannot_hold_are_named_by_their_place(self):
        for code, want in {
            "{'rows': [1, {'f': len}]}": "result.rows[1].f is a function",
            "a = []\na.append(a)\na": "result[0] refers back to result",
            "(i for i in [])": "is an iterator",
            "object()": "is an object",
            "import json\n{'m': json}": "result.m is a module",
            "async def f(): pass\nx = f()\nx": "await it first",
            "a = []\nfor _ in range(5000): a = [a]\na": "nested more than 128",
            "'x' * 20000": "20002 bytes of JSON, the limit is 10000",
        }.items():
            with self.subTest(code):
                end, value, error = ran(code)
                self.assertEqual((end, value), ("error", None))
                self.assertIn(want, error["message"])


class Errors(unittest.TestCase):
    def test_their_place_in_the_script(self):
        for code, (name, line, message) in {
            "raise ValueError('bad')": ("ValueError", 1, "bad"),
            "def f():\n    1 / 0\n\nf()": ("ZeroDivisionError", 2, "division by zero"),
            "a = 1\nb = = 2": ("SyntaxError", 2, "invalid syntax"),
            "import sys\nsys.exit(3)": ("SystemExit", 2, "exit code 3"),
            "\n{}['k']": ("KeyError", 2, "'k'"),
            "def f(): return f()\nf()": ("RecursionError", 1, "recursion"),
            "class Mine(Exception): pass\nraise Mine('own')": ("Mine", 2, "own"),
        }.items():
            with self.subTest(code):
                end, _, error = ran(code)
                self.assertEqual((end, error["name"], error["line"]), ("error", name, line))
                self.assertIn(message, error["message"])

    def test_stack_holds_the_script_only(self):
        _, _, error = ran("def f():\n    raise OSError('x')\nf()")
        self.assertEqual(error["stack"].splitlines()[0], 'File "script", line 2, in f')
        self.assertNotIn("airlock", error["stack"])

    def test_exceptions_that_lie(self):
        _, _, error = ran("class E(Exception):\n    def __str__(self): raise RuntimeError\nraise E")
        self.assertEqual(error["name"], "E")

    def test_hints(self):
        for code, want in {"import polars": "pandas", "import nothing_such": "cannot be installed", "open('/etc/x', 'w')": None}.items():
            with self.subTest(code):
                hint = ran(code)[2].get("hint") if want else ""
                self.assertIn(want or "", hint)


if __name__ == "__main__":
    unittest.main()
