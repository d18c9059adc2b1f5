"""What a script raised, as data for those who report it."""

import linecache

MAX_MESSAGE, MAX_STACK, MAX_FRAMES = 16384, 8192, 12

_FOLDERS = ("/workspace/", "/skills/", "/tools/", "/artifacts/")
_NETWORK = "scripts have no network; find a tool with list_mcp_tools(query=…) and use call_mcp_tool(name, args)"

# What to use instead of what other places have.
_MODULES = {
    **dict.fromkeys(("requests", "httpx", "aiohttp", "urllib3", "boto3", "psycopg2", "pymysql", "sqlalchemy", "pymongo", "redis"), _NETWORK),
    "polars": "use pandas", "xlsxwriter": "use openpyxl, or DataFrame.to_excel with engine=\"openpyxl\"",
    "statsmodels": "use scipy.stats, numpy.polyfit or sklearn.linear_model", "bokeh": "use matplotlib or plotly", "altair": "use matplotlib or plotly",
    "kaleido": "save interactive charts with fig.write_html(path), pictures with matplotlib",
}  # fmt: skip
_PACKAGES = "packages cannot be installed; there are numpy, pandas, scipy, matplotlib, seaborn, sklearn, sympy, plotly and openpyxl"


def describe(problem, name):
    """Returns {name, message, line, column, stack, code, hint, tool} of an exception."""
    error = {"name": "Error", "message": "the script raised something that cannot be read", "line": 0, "column": 0, "stack": ""}
    try:
        _fill(error, problem, name)
    except Exception:  # an exception of the script may lie about everything
        pass
    return error


def _fill(error, problem, name):
    error["name"] = type(problem).__name__[:100]
    error["message"] = _text(problem)[:MAX_MESSAGE]
    frames = _frames(problem, name)
    for file, _, line, column in frames:
        if file == name:
            error["line"], error["column"] = line, column
            break
    error["stack"] = "\n".join(_shown(*frame) for frame in frames)[:MAX_STACK]
    if isinstance(problem, SyntaxError) and problem.filename == name:
        error["line"], error["column"] = problem.lineno or 0, problem.offset or 0
        error["message"] = str(problem.msg)[:MAX_MESSAGE]
    for key in ("code", "hint", "tool"):
        value = getattr(problem, key, None)
        if isinstance(value, str) and value:
            error[key] = value[:1000]
    if "hint" not in error and (hint := _hint(problem)):
        error["hint"] = hint


def _text(problem):
    if isinstance(problem, SystemExit):
        code = problem.code
        return f"the script ended with exit code {code}" if isinstance(code, int) else str(code)
    text = str(problem)
    if isinstance(problem, KeyError) and len(problem.args) == 1:
        text = f"there is no key {problem.args[0]!r}"
    if isinstance(problem, BaseExceptionGroup):
        text += "".join(f"\n  - {type(part).__name__}: {part}" for part in problem.exceptions[:5])
    return text + _causes(problem)


def _causes(problem):
    text, seen = "", {id(problem)}
    cause = problem.__cause__
    while cause is not None and id(cause) not in seen and len(seen) < 5:
        seen.add(id(cause))
        text += f"\n  caused by: {type(cause).__name__}: {str(cause)[:1000]}"
        cause = cause.__cause__
    return text


def _frames(problem, name):
    """The frames of the script and its files, most recent first."""
    frames, trace = [], problem.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == name or code.co_filename.startswith(_FOLDERS):
            frames.append((code.co_filename, code.co_name, trace.tb_lineno, _column(code, trace.tb_lasti)))
        trace = trace.tb_next
    frames.reverse()
    if len(frames) > MAX_FRAMES:
        frames = frames[: MAX_FRAMES // 2] + frames[-MAX_FRAMES // 2 :]
    return frames


def _column(code, instruction):
    for i, position in enumerate(code.co_positions()):
        if i == instruction // 2:
            return (position[2] or 0) + 1
    return 0


def _shown(file, function, line, _column_in_line):
    source = linecache.getline(file, line).strip()[:200]
    head = f'File "{file}", line {line}' + ("" if function == "<module>" else f", in {function}")
    return head + (f"\n    {source}" if source else "")


def _hint(problem):
    if isinstance(problem, ModuleNotFoundError) and problem.name:
        return _MODULES.get(problem.name.partition(".")[0], _PACKAGES)
    if isinstance(problem, NameError) and problem.name in ("fetch", "requests"):
        return _NETWORK
    if isinstance(problem, NameError) and problem.name in ("console", "true", "false", "null", "const", "let"):
        return "this is Python; to run JavaScript use the language \"javascript\""
    if isinstance(problem, TypeError) and ("can't be used in 'await' expression" in str(problem) or "awaitable" in str(problem)):
        return "helpers answer at once: call them without await, or side by side with asyncio.to_thread(call_mcp_tool, name, args)"
    if isinstance(problem, OSError) and problem.errno in (13, 30):
        return "write below /workspace or /artifacts"
    if isinstance(problem, OSError) and problem.errno in (97, 101, 1) and not problem.filename:
        return _NETWORK
    return None

