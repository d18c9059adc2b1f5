"""The tool functions, over a bridge on a real socket."""

import contextlib
import io
import builtins
import json
import os
import socketserver
import tempfile
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler

import airlock.decode
from airlock.install import helpers, install
from airlock.script import run

ANSWERS = {
    "GET /v1/tools?detail=name": (200, {"tools": ["a__b"], "nextCursor": "2", "unavailable": [{"server": "s", "message": "down"}]}),
    "GET /v1/tools?detail=name&cursor=2": (200, {"tools": [{"name": "c__d"}]}),
    "GET /v1/tools?detail=summary&query=sales%20data": (200, {"tools": [{"name": "a__b", "description": "x"}], "nextCursor": "2"}),
    "GET /v1/tools?detail=summary&query=x": (200, {"tools": [{"name": "a__b", "fits": False}], "fits": False}),
    "GET /v1/tools/a__b": (200, {"name": "a__b"}),
    "POST /v1/tools/t__text/call": (200, {"content": [{"type": "text", "text": '[{"n": 1}]'}]}),
    "POST /v1/tools/t__prose/call": (200, {"content": [{"type": "text", "text": "NaN and more"}]}),
    "POST /v1/tools/t__none/call": (200, {"content": []}),
    "POST /v1/tools/t__two/call": (200, {"content": [{"type": "text", "text": "1"}, {"type": "text", "text": "b"}]}),
    "POST /v1/tools/t__image/call": (200, {"content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]}),
    "POST /v1/tools/t__fails/call": (200, {"isError": True, "content": [{"type": "text", "text": "no such table"}]}),
    "POST /v1/tools/t__denied/call": (403, {"error": {"code": "scope", "message": "not allowed", "hint": "ask"}}),
    "POST /v1/pii/attr": (200, {"value": "DE"}),
}


class Bridge(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        echo = {"structuredContent": {"body": json.loads(body or "null"), "token": self.headers["Authorization"]}, "content": []}
        status, value = ANSWERS.get(f"{self.command} {self.path}", (200, echo))
        data = json.dumps(value).encode()
        self.send_response(status)
        if "chunked" in self.path:
            self.send_header("Transfer-Encoding", "chunked")
            data = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (data[:5], data[5:])) + b"0\r\n\r\n"
        else:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 64

    def get_request(self):
        return super().get_request()[0], ("socket", 0)


class Tools(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "bridge.sock")
        cls.server = Server(cls.path, Bridge)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        airlock.decode.FOLDER = cls.folder.name
        cls.given = helpers(cls.path, "token")

    @classmethod
    def tearDownClass(cls):
        cls.server.shutdown()
        cls.server.server_close()
        cls.folder.cleanup()

    def call(self, name, *args, **more):
        return self.given["call_mcp_tool"](name, *args, **more)

    def test_listing(self):
        self.assertEqual(self.given["list_mcp_tools"](), ["a__b", "c__d"])
        self.assertEqual(self.given["list_mcp_tools"]("sales data"), [{"name": "a__b", "description": "x"}])
        self.assertEqual(self.given["get_mcp_tool_details"]("a__b"), {"name": "a__b"})

    def test_listing_of_guesses(self):
        with contextlib.redirect_stderr(io.StringIO()) as told:
            self.assertEqual(self.given["list_mcp_tools"]("x"), [{"name": "a__b", "fits": False}])
        self.assertIn("no tool seems to do that", told.getvalue())

    def test_what_a_call_returns(self):
        for name, want in {"t__text": [{"n": 1}], "t__prose": "NaN and more", "t__none": None, "t__two": [1, "b"]}.items():
            with self.subTest(name):
                self.assertEqual(self.call(name), want)
        self.assertEqual(self.call("t__none", raw=True), {"content": []})

    def test_arguments_and_token_arrive(self):
        want = {"body": {"arguments": {"q": "ü", "n": 1.5}}, "token": "Bearer token"}
        self.assertEqual(self.call("x__y", {"q": "ü", "n": 1.5}), want)
        self.assertEqual(self.given["mcp"].x.y(q="ü", n=1.5), want)
        self.assertEqual(self.given["callMCPTool"]("x__chunked", {"q": "ü", "n": 1.5}), want)

    def test_media_are_saved(self):
        for number in (1, 2):
            saved = self.call("t__image")
            self.assertEqual(saved, {"path": os.path.join(self.folder.name, f"t__image-{number}.png"), "mimeType": "image/png"})
            with open(saved["path"], "rb") as file:
                self.assertEqual(file.read(), b"hi")

    def test_errors(self):
        with self.assertRaises(self.given["MCPToolError"]) as failed:
            self.call("t__fails")
        self.assertEqual((failed.exception.tool, str(failed.exception)), ("t__fails", "no such table"))
        with self.assertRaises(self.given["BridgeError"]) as refused:
            self.call("t__denied")
        self.assertEqual((refused.exception.code, refused.exception.hint), ("scope", "ask"))
        with self.assertRaisesRegex(TypeError, "must be a dict"):
            self.call("a__b", [1])
        with self.assertRaisesRegex(TypeError, "needs a tool's name"):
            self.call("")
        with self.assertRaisesRegex(TypeError, "arguments.f is a function"):
            self.call("a__b", {"f": len})
        with self.assertRaises(self.given["BridgeError"]) as absent:
            helpers("/nowhere.sock", "t")["list_mcp_tools"]()
        self.assertEqual(absent.exception.code, "unavailable")

    def test_threads(self):
        with ThreadPoolExecutor(8) as pool:
            answers = pool.map(lambda n: self.call("x__y", {"n": n})["body"]["arguments"]["n"], range(64))
            self.assertEqual(list(answers), list(range(64)))

    def test_in_scripts(self):
        before = set(vars(builtins))
        install(self.path, "token")
        try:
            for code, want in {
                "await mcp.x.y(n=1)": 1,
                "import asyncio\nawait asyncio.to_thread(call_mcp_tool, 'x__y', {'n': 2})": 2,
                "import asyncio\nasync def f(n): return await call_mcp_tool('x__y', {'n': n})\n(await asyncio.gather(f(1), f(3)))[1]": 3,
            }.items():
                with self.subTest(code):
                    self.assertEqual(json.loads(run(code, "script", 1000)[1])["body"]["arguments"]["n"], want)
            self.assertEqual(run("pii.attr('t', 'country')", "script", 100)[1], b'"DE"')
            error = run("1\nmcp.t.fails()", "script", 1000)[2]
            self.assertEqual((error["name"], error["line"], error["tool"]), ("MCPToolError", 2, "t__fails"))
        finally:
            for name in set(vars(builtins)) - before:
                delattr(builtins, name)


if __name__ == "__main__":
    unittest.main()
