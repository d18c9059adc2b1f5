"""Finding and calling tools."""

import sys
from json import loads
from urllib.parse import quote

from .decode import decode_result
from .encode import encode
from .errors import BridgeError, MCPToolError


class Tools:
    """The tool functions, over ask(method, target, body)."""

    def __init__(self, ask):
        self._ask = ask

    def request(self, method, target, body=b""):
        """Sends a request; anything but success is a BridgeError."""
        status, answer = self._ask(method, target, body)
        try:
            value = loads(answer)
        except ValueError:
            raise BridgeError(f"the bridge answered {status} with something that is not JSON", "bad_answer") from None
        if 200 <= status < 300:
            return value
        raise _refusal(status, value.get("error") if isinstance(value, dict) else None)

    def list_mcp_tools(self, query=None, server=None, limit=None, detail=None):
        """Lists the tools' names; with query or detail="summary"|"full" dicts that also describe them."""
        if isinstance(query, dict):  # as JavaScript passes its options
            return self.list_mcp_tools(**query)
        detail = detail or ("summary" if query else "name")
        target = "/v1/tools?detail=" + quote(str(detail), safe="")
        for name, value in (("query", query), ("server", server), ("limit", limit)):
            if value is not None:
                target += f"&{name}=" + quote(str(value), safe="")
        found, cursor = [], ""
        while True:
            page = self.request("GET", target + cursor)
            for tool in page.get("tools") or []:
                found.append(tool["name"] if detail == "name" and isinstance(tool, dict) else tool)
            if page.get("fits") is False:
                print("list_mcp_tools: no tool seems to do that; what is listed are guesses", file=sys.stderr)
            _report_missing(page.get("unavailable"))
            if page.get("nextCursor") is None or limit is not None or query:
                return found
            cursor = "&cursor=" + quote(str(page["nextCursor"]), safe="")

    def get_mcp_tool_details(self, name):
        """Returns a tool's description, schemas and signature."""
        return self.request("GET", _path(name, "get_mcp_tool_details"))

    def call_mcp_tool(self, name, args=None, *, raw=False, **more):
        """Calls a tool and returns what a programmer wants of its answer.

        With raw=True the answer as the tool gave it, even one that says it failed.
        """
        target = _path(name, "call_mcp_tool") + "/call"
        value = self.request("POST", target, b'{"arguments":' + _arguments(name, args, more) + b"}")
        if raw:
            return value
        if value.get("isError") is True:
            raise MCPToolError(name, _failure(value), value.get("content"))
        return decode_result(name, value)


def _path(name, helper):
    if not isinstance(name, str) or not name:
        what = "an empty string" if name == "" else f"the {type(name).__name__} {name!r:.60}"
        raise TypeError(f'{helper} needs a tool\'s name such as "database__query", not {what}')
    return "/v1/tools/" + quote(name, safe="")


def _arguments(name, args, more):
    if args is None:
        args = more
    elif not isinstance(args, dict):
        raise TypeError(f'the arguments of {name} must be a dict such as {{"query": "…"}}, not {type(args).__name__}')
    elif more:
        args = {**args, **more}
    return encode(args, "arguments")


def _failure(result):
    texts = [block["text"] for block in result.get("content") or [] if isinstance(block, dict) and block.get("text")]
    return "\n".join(map(str, texts)) or "the tool reported an error without saying which"


def _refusal(status, error):
    error = error if isinstance(error, dict) else {}
    message = error.get("message") or f"the bridge answered {status}"
    return BridgeError(message, error.get("code") or f"http_{status}", error.get("hint") or None)


def _report_missing(servers):
    for server in servers or []:
        print(f"list_mcp_tools: the server {server.get('server')} is not available now: {server.get('message')}", file=sys.stderr)


class Servers:
    """mcp.<server>.<tool>(**args) is call_mcp_tool("<server>__<tool>", args)."""

    def __init__(self, call):
        self._call = call

    def __getattr__(self, server):
        return _Server(self._call, _word(server))

    def __repr__(self):
        return "<mcp: mcp.server.tool(**arguments) calls a tool; list_mcp_tools() names them>"


class _Server:
    def __init__(self, call, name):
        self._call = call
        self._name = name

    def __getattr__(self, tool):
        call, name = self._call, f"{self._name}__{_word(tool)}"

        def tool_function(args=None, /, **more):
            if args is not None and not isinstance(args, dict):
                raise TypeError(f"{name} takes its arguments by name, as in {name}(query=…), or as one dict")
            return call(name, {**(args or {}), **more})

        tool_function.__name__ = tool_function.__qualname__ = name
        return tool_function

    def __repr__(self):
        return f"<mcp.{self._name}>"


def _word(name):
    if name.startswith("__"):  # what the language itself asks objects for
        raise AttributeError(name)
    return name
