// Takes the pictures of the README: make screenshots.
import { mkdir } from "node:fs/promises";
import { ask, config, ends, open, part, run } from "./driver.mjs";

await mkdir(config.dir, { recursive: true });

/** shot takes a picture once all is still. */
async function shot(page, name) {
  await page.evaluate(() => document.fonts.ready);
  await page.waitForTimeout(300);
  await page.screenshot({ path: `${config.dir}/${name}.png`, animations: "disabled", caret: "hide" });
}

const small = { viewport: { width: 1120, height: 700 }, reducedMotion: "reduce" };

part("start", async () => shot(await open(config.plain, small), "start"));

part("report", async () => {
  const page = await open(config.plain, { ...small, colorScheme: "dark" });
  await page.click(".examples button >> nth=1");
  await ends(page.locator(".turn"));
  await page.evaluate(() => scrollTo(0, 0));
  await shot(page, "report-dark");
});

part("working", async () => {
  const page = await open(config.played, small);
  const turn = await ask(page, "Slow: go through all orders, step by step");
  await turn.locator(".output", { hasText: "step 5" }).waitFor();
  await shot(page, "working");
  await turn.locator("[data-action=stop]").click();
  await ends(turn, "cancelled");
});

part("chart", async () => {
  const page = await open(config.played, small);
  const turn = await ask(page, "Chart the revenue by region");
  await ends(turn);
  await turn.locator(".chip", { hasText: "regions.csv" }).click();
  await page.locator("#pane td").first().waitFor();
  await turn.locator(".prose img").evaluate((chart) => chart.scrollIntoView({ block: "center" }));
  await shot(page, "chart");
});

part("approval and privacy", async () => {
  const page = await open(config.guarded, small);
  const turn = await ask(page, "Customers: export the first 25, and count what the first one bought");
  await turn.locator(".approval.waits").getByText("Approve once").click();
  await turn.locator(".approval.waits", { hasText: /Gives awayEMAIL/ }).waitFor();
  await shot(page, "approval");
  await turn.locator(".approval.waits").getByText("Approve once").click();
  await ends(turn);
  await turn.locator("[data-action=privacy]").click();
  await page.locator("#pane tr", { hasText: "EMAIL" }).waitFor();
  await shot(page, "privacy");
});

part("tool", async () => {
  const page = await open(config.plain, small);
  await page.goto("/ui/tools/database__query");
  await page.fill("#arguments", '{"query": "SELECT name, email FROM customers LIMIT 2"}');
  await page.click("#try button");
  await page.locator("#try-out", { hasText: "ok" }).waitFor();
  await page.locator("#try-out").scrollIntoViewIfNeeded();
  await shot(page, "tool");
});

part("phone", async () => {
  const page = await open(config.plain, { viewport: { width: 390, height: 760 }, hasTouch: true, isMobile: true, reducedMotion: "reduce" });
  await ends(await ask(page, "Analyze the latest sales data and create a summary report"));
  await page.evaluate(() => scrollTo(0, 0));
  await shot(page, "phone");
});

await run();
