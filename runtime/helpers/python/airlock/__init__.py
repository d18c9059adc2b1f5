"""What Python scripts in the sandbox find: tools, protected values, results.

The package is the Python counterpart of the JavaScript prelude beside it and
keeps to the same semantics. An interpreter calls `install` once, before any code
of a user, with the way to the bridge; the names in `install.NAMES` become
built-in names, so that scripts and the modules they import can use them.

Nothing here needs more than the standard library. Values of NumPy, pandas and
SymPy are recognised by where their types come from, without importing them.
"""

from .errors import BridgeError, MCPToolError
from .install import install

__all__ = ["BridgeError", "MCPToolError", "install"]
