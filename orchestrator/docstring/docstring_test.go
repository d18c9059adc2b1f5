package docstring

import (
	"slices"
	"testing"
)

const pythonFile = `"""A module."""

def plain(a, b=": not the end"):
    """Adds.

      Indented.
    Last.
    """
    return a + b

class Shop:
    # a comment first
    'One line.'
    async def sell(
        self,
        what: dict[str, int],
    ) -> None:
        r'''Sells.'''

def bare(): return 1
def _hidden(): pass
`

const scriptFile = `/* Head. */
const unrelated = 1;

/**
 * Adds two numbers.
 *
 * @param a the first
 */
export async function add(a, {b = 2}: {b?: number}): Promise<number> {
  return a + b;
}

// Takes one
// from the other.
const subtract = (a, b) => a - b;

function bare() { return 1 }

/** Runs SQL. */
declare function callMCPTool("database__query", args: {
  query: string;
}): Promise<unknown>;

class Shop {
  /** Sells. */
  async sell(what) { }
}
module.exports.rest = function (x) { };
`

func TestFind(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, file, function, want string }{
		{"a docstring of many lines", "a.py", "plain", "def plain(a, b=\": not the end\"):\n\nAdds.\n\n  Indented.\nLast."},
		{"a class, after a comment", "a.py", "Shop", "class Shop:\n\nOne line."},
		{"a method over lines", "a.py", "sell", "async def sell(\n        self,\n        what: dict[str, int],\n    ) -> None:\n\nSells."},
		{"no docstring", "a.py", "bare", "def bare():"},
		{"a block comment", "a.ts", "add", "export async function add(a, {b = 2}: {b?: number}): Promise<number>\n\nAdds two numbers.\n\n@param a the first"},
		{"line comments", "a.js", "subtract", "const subtract = (a, b) => a - b\n\nTakes one\nfrom the other."},
		{"no comment", "a.js", "bare", "function bare()"},
		{"a tool by its full name", "a.d.ts", "database__query", "declare function callMCPTool(\"database__query\", args: {\n  query: string;\n}): Promise<unknown>\n\nRuns SQL."},
		{"a tool by its own name", "a.d.ts", "query", "declare function callMCPTool(\"database__query\", args: {\n  query: string;\n}): Promise<unknown>\n\nRuns SQL."},
		{"a method", "a.js", "sell", "async sell(what)\n\nSells."},
		{"an export", "a.js", "rest", "module.exports.rest = function (x)"},
	} {
		source := scriptFile
		if tc.file == "a.py" {
			source = pythonFile
		}
		if got, ok := Find(tc.file, source, tc.function); !ok || got != tc.want {
			t.Errorf("%s: found %v:\n%s\nwant:\n%s", tc.name, ok, got, tc.want)
		}
	}
	for _, name := range []string{"", "nothing", "pla", "a b", ".*", "(", "x\ny"} {
		for _, file := range []string{"a.py", "a.js"} {
			if got, ok := Find(file, pythonFile+scriptFile, name); ok {
				t.Errorf("%q in %s gives %q", name, file, got)
			}
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	if got := Names("a.py", pythonFile, 10); !slices.Equal(got, []string{"plain", "Shop", "bare"}) {
		t.Errorf("Python: %q", got)
	}
	if got := Names("a.js", scriptFile, 4); !slices.Equal(got, []string{"add", "subtract", "bare", "database__query"}) {
		t.Errorf("JavaScript: %q", got)
	}
}

func FuzzFind(f *testing.F) {
	f.Add("a.py", pythonFile, "plain")
	f.Add("a.d.ts", scriptFile, "query")
	f.Add("a.js", "/*/\nfunction f(", "f")
	f.Fuzz(func(t *testing.T, file, source, name string) {
		text, ok := Find(file, source, name)
		if ok && len(text) > len(source)+2 {
			t.Errorf("found more than the file holds: %q", text)
		}
		Names(file, source, 10)
	})
}
