package wasm

// testPrelude stands in for the helpers where a test needs no more of them.
const testPrelude = `(function (host) {
  const line = (stream) => (...a) => host.print(stream, a.map((v) => typeof v === "string" ? v : JSON.stringify(v)).join(" ") + "\n");
  globalThis.console = { log: line("stdout"), error: line("stderr") };
  globalThis.callMCPTool = async (name, args) => {
    const r = await host.call("POST", "/v1/tools/" + name + "/call", JSON.stringify({ arguments: args || {} }));
    const body = JSON.parse(r.body);
    if (r.status !== 200) { const e = new Error(body.error.message); e.name = "BridgeError"; e.hint = body.error.hint; throw e; }
    return body;
  };
  globalThis.setTimeout = (f, ms) => { host.timer(ms).then(f); };
  globalThis.fs = { readFile: (p) => host.file("read", p, ""), writeFile: (p, d) => host.file("write", p, d) };
  globalThis.require = (p) => { const m = { exports: {} }; host.compile("(function(module,exports,require){" + host.file("read", p, "") + "\n})", p)(m, m.exports, require); return m.exports; };
  const stringify = JSON.stringify;
  return {
    result: (v) => v === undefined ? undefined : stringify(v),
    error: (e) => stringify(e !== null && typeof e === "object" ? { name: String(e.name), message: String(e.message), stack: String(e.stack), hint: e.hint } : { name: "Thrown", message: String(e), stack: "" }),
  };
})`
