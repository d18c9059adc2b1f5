const customers = await callMCPTool("database__query", {
  query: "SELECT name, email, phone, country FROM customers ORDER BY id LIMIT 25",
});
const first = customers[0].email;
const sales = await callMCPTool("database__query", {
  query: `SELECT COUNT(*) AS sales FROM sales JOIN customers ON customers.id = sales.customer_id WHERE customers.email = '${first}'`,
});
console.log(`wrote ${customers.length} rows; the first is ${first}`);
await fs.writeFile("/artifacts/customers.csv", "name,email,phone,country\n" + customers.map((c) => [c.name, c.email, c.phone, c.country].join(",")).join("\n"));
return sales;
