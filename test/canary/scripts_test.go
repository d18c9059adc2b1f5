package canary

import "fmt"

// scripts are what the model runs in round n. The last parts of them bring values
// out that were hidden on their way in, on every way there is out.
func scripts(n int) []string {
	head := fmt.Sprintf("const round = {round: %d};\n", n) + `
		const reveal = async name => (await callMCPTool(name, round)).codes.map(c => String.fromCharCode(...c.map(x => x - 5000)));
	`
	var all []string
	for _, body := range []string{seen, told, revealed, thrown, failed, crashed, refused, files} {
		all = append(all, head+body)
	}
	return all
}

// seen prints and returns what tools tell.
const seen = `
	const rows = await callMCPTool("crm__lookup", round);
	const raw = await callMCPTool("crm__lookup", round, {raw: true});
	const nested = await callMCPTool("crm__nested", round);
	const keys = await callMCPTool("crm__keys", round);
	const resource = await callMCPTool("crm__resource", round);
	console.log(rows, nested);
	console.error(JSON.stringify(keys), resource);
	await callMCPTool("crm__mail", {round: 1, to: rows.rows[0].first});
	await fs.writeFile("/artifacts/rows.json", JSON.stringify(rows));
	await fs.writeFile("/workspace/nested.json", JSON.stringify(nested));
	await fs.writeFile("/artifacts/" + rows.rows[0].first + ".txt", Object.keys(keys).join("\n"));
	return {rows, raw, nested, keys, resource};`

const told = `
	const text = await callMCPTool("crm__export", round);
	for (const line of text.split("\n")) console.log(line);
	for (const c of text) if (c > "~") continue;
	await fs.writeFile("/artifacts/export.txt", text);
	await fs.writeFile("/workspace/export.txt", text.toUpperCase());
	await fs.writeFile("/skills/told.js", "// Tells what was exported.\nmodule.exports = async () => " + JSON.stringify(text) + ";");
	return text;`

// revealed prints values that the script itself put together.
const revealed = `
	const hidden = await reveal("crm__hidden");
	for (const h of hidden) { console.log("found " + h + " there"); console.error({value: h}); }
	console.log(hidden.join(", "));
	console.table?.(hidden);
	return {hidden, by: Object.fromEntries(hidden.map((h, i) => [h, i])), text: "all: " + hidden.join("; "), nested: JSON.stringify({hidden})};`

const thrown = `
	const hidden = await reveal("crm__hidden_error");
	throw new Error("no such user: " + hidden.join(" nor "));`

const failed = `
	try { await callMCPTool("crm__fail", round); } catch (e) { console.log(e.message, e.content, e); console.error(e.stack); }
	return await callMCPTool("crm__fail", round);`

const crashed = `
	try { await callMCPTool("crm__crash", round); } catch (e) { console.log(e.message, e.hint, e); }
	return await callMCPTool("crm__crash", round);`

// refused makes every kind of call that the bridge refuses, with values in it.
const refused = `
	const hidden = await reveal("crm__hidden");
	const all = [];
	for (const h of hidden.slice(0, 6)) {
		for (const call of [
			() => callMCPTool("crm__" + h, {}), () => callMCPTool(h, {}), () => callMCPTool("crm__mail", {round: h}),
			() => callMCPTool("crm__mail", {round: 1, to: h.repeat(30)}), () => callMCPTool("crm__mail", {[h]: 1}),
			() => callMCPTool("database__query", {query: "SELECT '" + h + "'"}), () => callMCPTool("database__query", {query: h}),
			() => get_mcp_tool_details(h), () => list_mcp_tools({query: h}), () => require("/skills/" + h), () => fs.readFile("/workspace/" + h),
		]) try { all.push(await call()); } catch (e) { all.push(e.message, e.hint, String(e.stack)); console.log(e); }
	}
	return all;`

// files leaves values that the script put together in files and their names.
const files = `
	const hidden = await reveal("crm__hidden_file");
	const refusals = [];
	for (const [i, h] of hidden.entries()) {
		try { await fs.writeFile("/skills/s" + i + ".js", "// Writes to " + h + "\nmodule.exports = async () => '" + h + "';"); } catch (e) { refusals.push(e.message); }
	}
	try { await fs.writeFile("/artifacts/" + hidden[0] + ".txt", "x"); } catch (e) { refusals.push(e.message); }
	return {refusals, list: await fs.listFiles("/artifacts")};`
