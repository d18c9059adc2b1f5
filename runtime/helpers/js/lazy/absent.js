// Names that scripts reach for and that cannot work here: each says what to use.
(function (core) {
  'use strict';
  async function fetch() {
    const error = new core.TypeError('fetch is not available: scripts have no network');
    core.define(error, 'code', 'ENETUNREACH');
    core.define(error, 'hint', 'find a tool with list_mcp_tools({query: "…"}) and use callMCPTool(name, args)');
    throw error;
  }

  return { __proto__: null, fetch };
})
