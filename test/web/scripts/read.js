const said = [];
for (const name of ["people.csv", "people-2.csv"]) said.push(`${name}: ${(await fs.readFile("/workspace/" + name)).trim()}`);
console.log(said.join("\n"));
console.log(`${(await fs.listFiles("/workspace")).length} files`);
return said;
