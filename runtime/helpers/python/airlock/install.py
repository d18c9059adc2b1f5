"""Makes the helpers built-in names."""

import builtins

from .errors import BridgeError, MCPToolError
from .protected import Protected
from .tools import Servers, Tools
from .transport import connect_to

NAMES = (
    "list_mcp_tools", "get_mcp_tool_details", "call_mcp_tool", "callMCPTool", "mcp", "pii", "MCPToolError", "BridgeError",
)  # fmt: skip


def install(socket, token):
    """Gives this interpreter's scripts the helpers, over the bridge at socket."""
    for name, helper in helpers(socket, token).items():
        setattr(builtins, name, helper)


def helpers(socket, token):
    """Returns the helpers by name."""
    tools = Tools(connect_to(socket, token))
    call = tools.call_mcp_tool
    all_ = (
        tools.list_mcp_tools, tools.get_mcp_tool_details, call, call, Servers(call), Protected(tools.request), MCPToolError, BridgeError,
    )  # fmt: skip
    return dict(zip(NAMES, all_))
