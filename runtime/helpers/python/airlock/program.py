"""Making a script's text into code that can run.

A script is a module with three more things: `return` and `await` work at its top,
and the value of its last expression is known. Awaiting a helper runs it in a
thread, so that `await call_mcp_tool(…)`, as people write who come from
JavaScript, does what they mean, also in tasks side by side.
"""

import ast
import builtins

HELPERS = {"list_mcp_tools", "get_mcp_tool_details", "call_mcp_tool", "callMCPTool", "mcp", "pii"}

# Names of ours in the script's code that no script can mean.
_RETURNED, _LAST, _AWAITED = " returned", " last", " awaited"

_COROUTINE = 0x80  # inspect.CO_COROUTINE


class Returned(BaseException):
    """Ends a script that returns at its top."""

    def __init__(self, *value):
        super().__init__()
        self.value = value  # empty for a bare return


def compile_script(code, name):
    """Returns the Program of a script; raises SyntaxError as Python does."""
    tree = ast.parse(code, name)
    tree = ast.fix_missing_locations(_Top().visit(tree))
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = tree.body[-1]
        tree.body[-1] = ast.copy_location(ast.Assign([ast.copy_location(ast.Name(_LAST, ast.Store()), last)], last.value), last)
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    return Program(compile(tree, name, "exec", flags, dont_inherit=True))


class Program:
    """A compiled script."""

    def __init__(self, code):
        self._code = code

    def run(self, space):
        """Runs it in a namespace and returns the value of its last expression."""
        ours = {_RETURNED: Returned, _AWAITED: _awaited}
        vars(builtins).update(ours)
        if self._code.co_flags & _COROUTINE:
            import asyncio  # which takes longer than most scripts

            asyncio.run(_coroutine(self._code, space))
        else:
            exec(self._code, space)
        return space.pop(_LAST, None)


async def _coroutine(code, space):
    await eval(code, space)


def _awaited(function, *args, **keywords):
    import asyncio

    return asyncio.to_thread(function, *args, **keywords)


class _Top(ast.NodeTransformer):
    """Rewrites what only scripts may do; other functions' returns are theirs."""

    def __init__(self):
        self._depth = 0

    def _inner(self, node):
        self._depth += 1
        node = self.generic_visit(node)
        self._depth -= 1
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _inner

    def visit_Return(self, node):
        node = self.generic_visit(node)
        if self._depth > 0:
            return node
        call = ast.Call(ast.Name(_RETURNED, ast.Load()), [node.value] if node.value else [], [])
        return _placed(ast.Raise(call, None), node)

    def visit_Await(self, node):
        node = self.generic_visit(node)
        call = node.value
        if isinstance(call, ast.Call) and _root(call.func) in HELPERS:
            node.value = _placed(ast.Call(ast.Name(_AWAITED, ast.Load()), [call.func, *call.args], call.keywords), call)
        return node


def _placed(new, old):
    ast.copy_location(new, old)
    for child in ast.walk(new):
        if isinstance(child, (ast.expr, ast.stmt)) and not hasattr(child, "lineno"):
            ast.copy_location(child, old)
    return new


def _root(node):
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
