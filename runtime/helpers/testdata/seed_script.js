// 1. Discover available tools
const tools = await list_mcp_tools();
console.log("Available tools:", tools);
// 2. Get tool details
const dbTool = await get_mcp_tool_details("database__query");
console.log("Tool info:", dbTool.description);
// 3. Execute tools
const salesData = await callMCPTool("database__query", {
query: "SELECT * FROM sales WHERE date > '2024-01-01'"
});
// 4. Process data in code
const summary = salesData.reduce((acc, sale) => {
acc.total += sale.amount;
acc.count += 1;
return acc;
}, { total: 0, count: 0 });
// 5. Save to skills for reuse
await fs.writeFile('/skills/sales_summary.js', `
module.exports = async function summarizeSales(data) {
return data.reduce((acc, sale) => {
acc.total += sale.amount;
acc.count += 1;
return acc;
}, { total: 0, count: 0 });
};
`);
// 6. Return results
return { summary, totalSales: summary.total, count: summary.count };
