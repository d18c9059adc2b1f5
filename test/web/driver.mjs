// What page.mjs and screenshots.mjs have in common: a browser, and parts that are run
// one after the other, each of which becomes a line of JSON for the test in Go.
import { chromium } from "playwright-core";

export const config = JSON.parse(process.argv[2]);

const browser = await chromium.launch({ executablePath: config.browser, args: ["--no-sandbox", "--disable-dev-shm-usage"] });

/** errors are what pages complained of since the part began. */
let errors = [];

/** slow is how long requests wait at most, in ms, before they are sent, each as long as
    chance has it: what a page shows must not depend on which answer comes first. With
    it the browser computes six times slower, too. */
const slow = Number(process.env.SLOW || 0);

async function slowDown(context) {
  await context.route("**", async (route) => {
    await new Promise((done) => setTimeout(done, Math.random() * slow));
    await route.continue().catch(() => {}); // its page is gone
  });
  context.on("page", async (page) => {
    try {
      await (await context.newCDPSession(page)).send("Emulation.setCPUThrottlingRate", { rate: 6 });
    } catch { /* it is closed already */ }
  });
}

/** open gives a page in a browser of its own. */
export async function open(base, options = {}) {
  const context = await browser.newContext({ baseURL: base, viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(60_000); // for slow machines; nothing waits longer than it must
  if (slow) await slowDown(context);
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

/** ask sends a task and waits until its turn is there. The first one of a chat opens a
    page of its own, whose buttons do nothing before it is loaded. */
export async function ask(page, task) {
  const turns = await page.locator(".turn").count();
  await page.fill("#task", task);
  await page.keyboard.press("Enter");
  const turn = page.locator(".turn").nth(turns);
  await turn.waitFor();
  await page.waitForLoadState();
  return turn;
}

/** ends waits for a turn's last state, on a page that is loaded. */
export async function ends(turn, status = "completed") {
  await turn.page().waitForFunction(
    ([id, wanted]) => document.getElementById(id)?.dataset.status === wanted, [await turn.getAttribute("id"), status]);
  await turn.page().waitForLoadState();
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
