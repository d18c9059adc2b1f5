// What page.mjs and screenshots.mjs have in common: a browser, and parts that are run
// one after the other, each of which becomes a line of JSON for the test in Go.
import { chromium } from "playwright-core";

export const config = JSON.parse(process.argv[2]);

const browser = await chromium.launch({ executablePath: config.browser, args: ["--no-sandbox", "--disable-dev-shm-usage"] });

/** errors are what pages complained of since the part began. */
let errors = [];

/** open gives a page in a browser of its own. */
export async function open(base, options = {}) {
  const context = await browser.newContext({ baseURL: base, viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  guard(page);
  await page.goto("/");
  return page;
}

/** guard notes what a page should never say. */
export function guard(page) {
  page.on("pageerror", (e) => errors.push(`error in the page: ${e.message}`));
  page.on("dialog", (d) => { errors.push(`a dialog opened: ${d.message()}`); d.dismiss(); });
  page.on("console", (m) => { if (m.type() === "error") errors.push(`${m.text()} (${m.location().url})`); });
  return page;
}

export const complaints = { take: () => errors.splice(0), expect: (of) => { errors = errors.filter((e) => !of.test(e)); } };

export function check(is, what) {
  if (!is) throw new Error(what);
}

/** ask sends a task and waits until its turn is there. */
export async function ask(page, task) {
  const turns = await page.locator(".turn").count();
  await page.fill("#task", task);
  await page.keyboard.press("Enter");
  const turn = page.locator(".turn").nth(turns);
  await turn.waitFor();
  return turn;
}

/** ends waits for a turn's last state. */
export async function ends(turn, status = "completed") {
  await turn.page().waitForFunction(
    ([id, wanted]) => document.getElementById(id)?.dataset.status === wanted, [await turn.getAttribute("id"), status]);
}

const parts = [];
export const part = (name, run) => parts.push({ name, run });

/** run runs the parts that the environment's ONLY names, or all. */
export async function run() {
  for (const { name, run } of parts) {
    if (process.env.ONLY && !name.includes(process.env.ONLY)) continue;
    errors = [];
    const begun = Date.now();
    let error = "";
    let note = "";
    try {
      note = (await run()) || "";
      if (errors.length) error = errors.join("\n");
    } catch (e) {
      error = [e.stack, ...errors].join("\n");
    }
    for (const context of browser.contexts()) await context.close();
    console.log(JSON.stringify({ name, error, note: `${note} ${Date.now() - begun} ms`.trim() }));
  }
  await browser.close();
}
