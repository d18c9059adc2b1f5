"""The errors of the helpers."""


class MCPToolError(Exception):
    """A tool itself reports that it failed."""

    __module__ = "airlock"

    def __init__(self, tool, message, content=None):
        super().__init__(message)
        self.tool = tool
        self.message = message
        self.content = content


class BridgeError(Exception):
    """airlock refused a call or could not make it."""

    __module__ = "airlock"

    def __init__(self, message, code="", hint=None):
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint
