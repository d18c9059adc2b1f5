// Drives airlock's web page as a person does. Run by TestWebPage in cmd/airlock, which
// serves what it is driven over; ONLY=words runs the parts with these in their name, SLOW=800
// delays each request by up to so many ms.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { ask, check, complaints, config, ends, guard, open, part, run } from "./driver.mjs";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

part("the examples answer without a model", async () => {
  const page = await open(config.plain);
  check((await page.textContent(".configured")).includes("No model set"), "the page does not say what answers");
  await page.click(".examples button >> nth=0");
  const turn = page.locator(".turn");
  await ends(turn);
  check((await turn.textContent()).includes("Sales summary"), "there is no report");
  check(page.url().includes("/ui/chats/ses_"), `the chat is at ${page.url()}`);
  check((await page.textContent("#live")) === "Done", "who cannot see is not told that it is done");
  await page.goto("/");
  for (const task of (await page.locator(".examples button").evaluateAll((all) => all.map((b) => b.dataset.task))).slice(1)) {
    await page.goto("/");
    await ends(await ask(page, task));
    check((await page.locator(".state.failed").count()) === 0, `"${task}" failed`);
  }
});

part("a chart is shown, a CSV previewed, and files downloaded", async () => {
  const page = await open(config.played);
  const turn = await ask(page, "chart: revenue by region");
  await ends(turn);
  const chart = turn.locator(".prose img");
  await chart.waitFor();
  await page.waitForFunction((img) => img.complete && img.naturalWidth > 100, await chart.elementHandle());
  check((await turn.locator(".calls").textContent()).includes("database__query"), "the call of the tool is not shown");
  check(/\d+ ms|\d+\.\d s/.test(await turn.locator(".cell summary").textContent()), "the script's time is not shown");
  check((await turn.locator(".output").textContent()).includes("regions"), "the output is not shown");
  await turn.locator(".chip", { hasText: "regions.csv" }).click();
  const rows = page.locator("#pane tbody tr");
  await rows.first().waitFor();
  check((await page.locator("#pane th.number").count()) === 2, "columns of numbers are not found");
  await page.keyboard.press("Escape");
  check(await page.locator("#pane").isHidden(), "Escape does not close the pane");
  await turn.locator(".chip", { hasText: "regions.json" }).click();
  await rows.first().waitFor();
  const download = page.waitForEvent("download");
  await page.click("#pane a[download]");
  const file = await readFile(await (await download).path(), "utf8");
  check(JSON.parse(file).length === (await rows.count()), "the download is another file than the one shown");
  await page.goto("/ui/files");
  const all = page.waitForEvent("download");
  await page.click("text=Download all");
  const zip = await readFile(await (await all).path());
  check(zip.subarray(0, 2).toString() === "PK" && zip.includes("regions.csv"), "the archive does not hold the files");
});

part("the files of one task are downloaded together", async () => {
  const page = await open(config.played);
  const turn = await ask(page, "chart for the archive");
  await ends(turn);
  await ends(await ask(page, "read nothing, but be there"));
  const all = page.waitForEvent("download");
  await turn.locator("text=Download all").click();
  const zip = await readFile(await (await all).path(), "latin1");
  const names = [...zip.matchAll(/PK\x01\x02[^]{24}([^]{2})[^]{16}/g)].map((m) => zip.substr(m.index + 46, m[1].charCodeAt(0)));
  const shown = await turn.locator(".chip[data-name]").evaluateAll((all) => all.map((b) => decodeURIComponent(b.dataset.name)));
  check(names.sort().join() === shown.sort().join() && names.length >= 3, `the archive holds ${names}, the task made ${shown}`);
});

part("a script's code is folded when it has ended, unless somebody reads it", async () => {
  const page = await open(config.guarded);
  const isOpen = (turn) => turn.locator("details").evaluate((d) => d.open);
  const waiting = async (turn, what) => {
    await turn.locator(".approval.waits", { hasText: what }).waitFor();
    check(await isOpen(turn), "the code of a running script is hidden");
  };
  const approve = async (turn) => { // by keyboard, which leaves the mouse where it is
    await turn.locator(".approval.waits [data-scope=task]").evaluate((b) => b.focus({ preventScroll: true }));
    await page.keyboard.press("Enter");
  };
  const over = async (turn) => {
    await waiting(turn, "no personal data");
    await approve(turn);
    await waiting(turn, /Gives awayEMAIL/);
    await approve(turn);
    await ends(turn);
  };
  const first = await ask(page, "customers while nobody looks");
  await over(first);
  check(!(await isOpen(first)), "the code stays open");
  await page.reload();
  check(!(await isOpen(first)), "a reload opens the code");
  const second = await ask(page, "customers while I read");
  await second.locator("details pre").evaluate((code) => getSelection().selectAllChildren(code));
  await over(second);
  check(await isOpen(second), "the code is folded though it is marked");
});

part("a task is watched, and goes on after a reload", async () => {
  const page = await open(config.played);
  const turn = await ask(page, "wait for me");
  await turn.locator(".output", { hasText: "looked" }).waitFor();
  check((await turn.getAttribute("data-status")) === "running", "the task does not run");
  await page.reload();
  const again = page.locator(".turn");
  await again.locator(".cell .state.completed").waitFor(); // then the model is held, and nothing happens
  const seen = Number(await again.getAttribute("data-after"));
  check(seen >= 5, `the page knows ${seen} events after the reload`);
  const streamed = page.waitForRequest((r) => r.url().includes("/stream?after="));
  await page.reload();
  check((await streamed).url().endsWith(`after=${seen}`), "the stream does not go on after the last event");
  await fetch(config.release);
  await ends(again);
  check((await again.locator(".said", { hasText: "First I look around." }).count()) === 1, "a piece is there twice, or not at all");
  check((await again.locator(".said strong").textContent()) === "end", "the answer is not there");
  check((await again.locator(".cell").count()) === 1, "the script is there twice");
});

part("a broken connection costs nothing", async () => {
  const page = await open(config.line);
  const turn = await ask(page, "count to a hundred");
  await page.evaluate(() => { window.never = "reloaded"; });
  const shows = (n) => turn.locator(".output", { hasText: `item ${n}\n` }).waitFor();
  const line = (does) => fetch(`${config.control}/${does}`);
  await shows(5);
  await line("cut");
  await shows(30);
  await line("down");
  await page.waitForEvent("requestfailed", (r) => r.url().includes("/stream"));
  await line("up");
  await shows(60);
  const refused = page.waitForResponse((r) => r.status() === 503); // by a proxy, say, while the server comes up again
  await page.route("**/stream?*", (route) => route.fulfill({ status: 503 }), { times: 1 });
  await line("cut");
  await refused;
  await fetch(config.release);
  await ends(turn);
  complaints.expect(/ERR_|status of 503/);
  const counted = Array.from({ length: 100 }, (_, i) => `item ${i + 1}\n`).join("");
  check((await turn.locator(".output").textContent()) === counted, `the output is ${await turn.locator(".output").textContent()}`);
  check((await turn.locator(".cell").count()) === 1 && (await turn.locator(".said").count()) === 2, "a piece is there twice, or not at all");
  check((await page.evaluate(() => window.never)) === "reloaded", "the page was reloaded");
});

part("what a task did before its page was loaded counts too", async () => {
  const page = await open(config.played);
  const over = async () => (await (await page.request.get("/tasks")).json()).tasks.find((t) => t.task === "hello slow page")?.status === "completed";
  await page.route("**/ui/chats/*", async (route) => {
    while (!(await over())) await new Promise((done) => setTimeout(done, 20));
    await route.continue();
  });
  const turn = await ask(page, "hello slow page");
  await ends(turn);
  check((await page.textContent("#live")) === "Done", "who cannot see is not told that it is done");
  check((await turn.locator(".bubble").textContent()) === "hello slow page", "the task is not shown");
  const entry = page.locator("#chats [aria-current]");
  check((await entry.locator(".name").textContent()) === "hello slow page", "the chat has no title in the list");
  check(await entry.locator(".dot").isHidden(), "the list says that it works");
});

part("tasks stand in line, and the page stays able to answer", async () => {
  const page = await open(config.played);
  const first = await ask(page, "wait at the head");
  for (let n = 1; n <= 7; n++) await ask(page, `hello ${n}`); // browsers have six connections
  await page.reload();
  check((await page.locator(".bubble", { hasText: "hello" }).count()) === 0, "a task that has not begun is told already: this test proves nothing");
  check(await page.locator("#chats [aria-current] .dot").isVisible(), "the list does not say that it works");
  await page.locator(".turn").nth(7).locator("[data-action=stop]").click();
  await ends(page.locator(".turn").nth(7), "cancelled");
  await fetch(config.release);
  await ends(first);
  for (let n = 1; n <= 6; n++) {
    const turn = page.locator(".turn").nth(n);
    await ends(turn);
    check((await turn.locator(".bubble").textContent()) === `hello ${n}`, `turn ${n} shows ${await turn.locator(".bubble").textContent()}`);
  }
  await page.locator("#chats [aria-current] .dot").waitFor({ state: "hidden" });
});

part("two tabs show the same chat", async () => {
  const page = await open(config.played);
  await ends(await ask(page, "hello"));
  const second = guard(await page.context().newPage());
  await second.goto(page.url());
  const turn = await ask(page, "wait in two tabs");
  const other = second.locator(".turn").nth(1);
  await other.locator(".output", { hasText: "looked" }).waitFor();
  await fetch(config.release);
  await ends(turn);
  await ends(other);
  check((await other.textContent()).includes("Here is the end of it."), "the other tab lacks the answer");
});

part("stop stops", async () => {
  const page = await open(config.played);
  const turn = await ask(page, "slow steps");
  await turn.locator(".output", { hasText: "step 2" }).waitFor();
  await turn.locator("[data-action=stop]").click();
  await ends(turn, "cancelled");
  const printed = await turn.locator(".output").textContent();
  const task = await page.request.get("/tasks");
  check((await task.json()).tasks.find((t) => t.task === "slow steps").status === "cancelled", "the task is not cancelled");
  check((await turn.locator(".output").textContent()) === printed && !printed.includes("step 100"), "the script goes on");
});

part("run again, edit, rename, find and delete", async () => {
  const page = await open(config.played);
  const turn = await ask(page, "hello there");
  await ends(turn);
  await turn.locator("[data-action=retry]").click();
  await ends(page.locator(".turn").nth(1));
  await turn.hover();
  await turn.locator("[data-action=edit]").click();
  check((await page.inputValue("#task")) === "hello there", "the task is not there to be edited");
  const entry = page.locator("#chats [data-chat]", { hasText: "hello there" });
  await entry.hover();
  await entry.locator("[data-action=rename]").click();
  await page.fill("#dialog-input", "Greetings");
  await page.keyboard.press("Enter");
  const renamed = page.locator("#chats [data-chat]", { hasText: "Greetings" });
  await renamed.waitFor();
  await page.reload();
  await renamed.waitFor();
  await page.fill("#find", "no such chat");
  await page.locator("#none-found").waitFor();
  await page.fill("#find", "greet");
  await renamed.hover();
  await renamed.locator("[data-action=delete]").click();
  await page.click("#dialog-ok");
  await page.waitForURL("**/");
  check((await renamed.count()) === 0, "the chat is still in the list");
});

part("a call is approved, with tokens until the values are asked for", async () => {
  const page = await open(config.guarded);
  const turn = await ask(page, "customers please");
  const card = turn.locator(".approval.waits");
  await card.waitFor();
  const waits = async () => (await turn.getAttribute("data-status")) === "awaiting_approval" && (await page.title()).startsWith("●");
  check(await waits(), "the page does not say that it waits");
  await page.reload();
  check(await waits(), "the page does not say that it waits once it is loaded again");
  await card.locator("text=Approve once").click();
  await turn.locator(".approval.waits", { hasText: /Gives awayEMAIL/ }).waitFor();
  const second = turn.locator(".approval.waits");
  const shown = await second.locator(".arguments").textContent();
  check(/\[EMAIL_1_/.test(shown) && !/@example/.test(await page.content()), `values are shown unasked: ${shown}`);
  await second.locator("[data-action=arguments]").click();
  await page.waitForFunction(() => document.querySelector(".approval.waits .arguments").textContent.includes("@"));
  await second.locator("text=Approve for this task").click();
  await ends(turn);
  check((await turn.locator(".approval .state.completed").count()) === 2, "the approvals are not shown as given");
  await turn.locator("[data-action=privacy]").click();
  const pane = page.locator("#pane");
  await pane.locator("tr", { hasText: "EMAIL" }).waitFor();
  check((await pane.textContent()).includes("database__query"), "the release is not shown");
  check(!/@example/.test(await pane.textContent()), "values are shown unasked");
  await pane.locator("[data-action=values][data-type=EMAIL]").click();
  await pane.locator("#values td", { hasText: "@" }).first().waitFor();
});

part("a call is denied", async () => {
  const page = await open(config.guarded);
  const turn = await ask(page, "customers, but no");
  await turn.locator(".approval.waits .danger").click();
  await ends(turn);
  check((await turn.locator(".approval .state.cancelled").textContent()) === "denied", "the denial is not shown");
  check((await turn.locator(".calls").textContent()).includes("refused"), "the call is not shown as refused");
});

part("sign in with a key, and with fewer rights", async () => {
  const page = await open(config.keyed);
  check(page.url().endsWith("/ui/signin"), `a stranger sees ${page.url()}`);
  await page.fill("#credential", "alk_wrong");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.getElementById("signin-error").textContent !== "");
  complaints.expect(/status of 401/);
  await page.fill("#credential", config.keys.run);
  await page.keyboard.press("Enter");
  await page.locator("#task").waitFor();
  await page.waitForLoadState();
  const cookies = await page.context().cookies();
  const own = cookies.find((c) => c.name === "airlock_session");
  check(own.httpOnly && own.sameSite === "Strict" && !own.value.includes("alk_"), "the cookie is not guarded");
  check((await page.evaluate(() => Object.keys(localStorage).length + document.cookie.length)) === 0, "a script can read something");
  const turn = await ask(page, "customers please");
  await turn.locator(".approval.waits", { hasText: "no right to approve" }).waitFor();
  check((await turn.locator("[data-action=decide], [data-action=arguments]").count()) === 0, "buttons are there that nobody may press");
  await turn.locator("[data-action=stop]").click();
  await ends(turn, "cancelled");
  const foreign = await page.evaluate(async () => (await fetch("/tasks")).status);
  complaints.expect(/status of 401/);
  check(foreign === 401, `the API takes the page's cookie: ${foreign}`);
  await page.click("[data-action=sign-out]");
  await page.waitForURL("**/ui/signin");
  await page.goto("/");
  check(page.url().endsWith("/ui/signin"), "signing out does not sign out");
});

part("sign in with a token, which ends in the midst of a task", async () => {
  const page = await open(config.issued);
  const signIn = async (good) => {
    await page.fill("#credential", await (await fetch(`${config.tokens}?good=${good}`)).text());
    await page.keyboard.press("Enter");
    await page.locator("#task").waitFor();
    await page.waitForLoadState();
  };
  await signIn(`${20 + Number(process.env.SLOW || 0) / 40}s`); // time for all up to the notice
  check((await page.textContent(".who")) === "ann@example.org", "the page does not say who has signed in");
  const turn = await ask(page, "wait for me to come back");
  await page.fill("#task", "typed meanwhile");
  const notice = page.locator("#toasts", { hasText: "Your sign-in has ended" });
  await notice.waitFor(); // the stream ends with the token
  check(await turn.locator(".bubble").isVisible(), "what was read is gone");
  complaints.expect(/status of 401/);
  const chat = page.url();
  await notice.locator("a").click();
  await page.locator("main", { hasText: "sign in again to go on where you were" }).waitFor();
  await page.waitForLoadState();
  await signIn("1h");
  check(page.url() === chat, `after signing in the page is ${page.url()}`);
  check((await page.inputValue("#task")) === "typed meanwhile", "what was typed is lost");
  await fetch(config.release);
  await ends(turn);
  check((await turn.textContent()).includes("Here is the end of it."), "the task did not go on");
});

part("the keyboard is enough", async () => {
  const page = await open(config.guarded);
  const focus = () => page.evaluate(() => document.activeElement.id || document.activeElement.dataset.action || document.activeElement.textContent.trim());
  check((await focus()) === "task", `the focus is on ${await focus()} at first`);
  await page.keyboard.type("customers by keyboard");
  await page.keyboard.press("Enter");
  const turn = page.locator(".turn");
  const tabTo = async (wanted) => {
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press("Tab");
      if ((await focus()) === wanted) {
        const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
        check(outline !== "none", `the focus on ${wanted} cannot be seen`);
        return;
      }
    }
    throw new Error(`no way to ${wanted} with Tab`);
  };
  await turn.locator(".approval.waits").waitFor();
  await page.reload();
  await turn.locator(".approval.waits").waitFor();
  await page.evaluate(() => document.activeElement.blur());
  await tabTo("decide");
  await page.keyboard.press("Tab"); // approve for this task
  await page.keyboard.press("Enter");
  await turn.locator(".approval.waits", { hasText: /Gives awayEMAIL/ }).waitFor();
  const place = await page.evaluate(() => document.activeElement.className);
  check(place === "approval", `the focus is on ${await focus()} (${place}) after the answer`);
  await page.evaluate(() => document.querySelector(".approval.waits [data-decision=deny]").focus());
  await page.keyboard.press("Enter");
  await ends(turn);
  await tabTo("privacy");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement.closest("#pane"));
  await page.keyboard.press("Escape");
  check((await focus()) === "privacy", "the focus does not come back from the pane");
  await page.evaluate(() => { document.activeElement.blur(); scrollTo(0, 0); });
  await page.goto("/ui/tools");
  await page.keyboard.press("Tab");
  check((await focus()) === "Skip to the content", `the first stop is ${await focus()}`);
  await page.keyboard.press("Enter");
  check((await focus()) === "main", "the content cannot be jumped to");
});

part("light and dark, by the system and by choice", async () => {
  const page = await open(config.plain, { colorScheme: "dark" });
  const shade = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0));
  check((await shade()) < 150, "the system's wish for dark is not heard");
  await page.click("[data-action=theme]");
  check((await shade()) > 600, "the choice of light is not heard");
  await page.reload();
  check((await shade()) > 600, "the choice is forgotten");
});

part("360 pixels are enough", async () => {
  const page = await open(config.played, { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
  const fits = async (what) => {
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    check(width <= 360, `${what} is ${width} pixels wide`);
  };
  await fits("the start page");
  const turn = await ask(page, "chart on a phone");
  await ends(turn);
  await fits("a chat");
  await turn.locator(".chip", { hasText: "regions.csv" }).click();
  await page.locator("#pane td").first().waitFor();
  await fits("the pane");
  await page.click("#pane [data-action=close]");
  await page.click(".bar [data-action=menu]");
  await page.locator("#menu a", { hasText: "Tasks" }).click();
  await page.waitForURL("**/ui/tasks");
  for (const path of ["tasks", "files", "skills", "skills/top-customers", "tools", "tools/database__query"]) {
    await page.goto("/ui/" + path);
    await fits(path);
  }
});

part("tools can be searched and tried", async () => {
  const page = await open(config.plain);
  await page.goto("/ui/tools");
  await page.fill("#q", "run sql");
  await page.keyboard.press("Enter");
  await page.locator(".list a", { hasText: "database__query" }).click();
  await page.fill("#arguments", '{"query": "SELECT email FROM customers LIMIT 1"}');
  await page.click("#try button");
  await page.waitForFunction(() => document.getElementById("try-out").textContent.includes("[EMAIL_1_"));
  await page.fill("#arguments", "{");
  await page.click("#try button");
  await page.locator("#toasts", { hasText: "not valid JSON" }).waitFor();
  complaints.expect(/status of 400/);
});

part("a skill's history is looked at, restored, shared and deleted", async () => {
  const page = await open(config.plain);
  const save = async (n) => check((await page.request.post("/skills", { data: { userId: "local", name: "herd", files: { "SKILL.md": `---\nname: herd\ndescription: Counts the herd.\n---\n# Herd\n\nVersion ${n}\n` } } })).ok(), "the skill is not saved");
  await save(1);
  await save(2);
  await page.goto("/ui/skills");
  await page.locator(".list a", { hasText: "herd" }).click();
  await page.waitForURL("**/ui/skills/herd");
  const versions = page.locator(".version");
  check((await versions.count()) === 2 && (await versions.first().textContent()).includes("current"), "the versions are not listed, the newest first");
  await versions.first().locator("[data-action=changes]").click();
  const pane = page.locator("#pane");
  await pane.locator(".gd", { hasText: "-Version 1" }).waitFor();
  await pane.locator(".gi", { hasText: "+Version 2" }).waitFor();
  await versions.nth(1).locator("[data-action=restore]").click();
  await page.click("#dialog-ok");
  await versions.nth(2).waitFor();
  await page.waitForLoadState();
  check((await page.locator(".sheet").textContent()).includes("Version 1"), "the version is not restored");
  await page.click("[data-action=review]");
  await pane.locator(".gi", { hasText: "+Version 1" }).waitFor();
  await save(3); // it is shared as it was looked at, or not at all
  await pane.locator("[data-action=promote]").click();
  await page.locator("#toasts", { hasText: "changed" }).waitFor();
  complaints.expect(/status of 409/);
  await page.click("[data-action=review]");
  await pane.locator(".gi", { hasText: "+Version 3" }).waitFor();
  await pane.locator("[data-action=promote]").click();
  await page.waitForURL("**/ui/skills/shared%2Fherd");
  check((await page.locator(".title .tag").textContent()) === "shared" && (await page.locator("[data-action=review]").count()) === 0, "it is not shared");
  await page.click("[data-action=delete-skill]");
  await page.click("#dialog-ok");
  await page.waitForURL("**/ui/skills");
  check((await page.locator(".list a", { hasText: "herd" }).count()) === 0, "it is not deleted");

  const guest = await open(config.keyed);
  await guest.fill("#credential", config.keys.all);
  await guest.keyboard.press("Enter");
  await guest.locator("#task").waitFor();
  const bearer = { Authorization: `Bearer ${config.keys.all}` };
  const files = { "SKILL.md": "---\nname: flock\ndescription: Counts the flock.\n---\n# Flock\n" };
  check((await guest.request.post("/skills", { headers: bearer, data: { name: "flock", files } })).ok(), "the skill is not saved");
  await guest.goto("/ui/skills/flock");
  check((await guest.locator("[data-action=delete-skill]").count()) === 1 && (await guest.locator("[data-action=review]").count()) === 0, "who is not the operator is offered to share");
  const told = await guest.evaluate(async () => (await fetch("/ui/skills/flock/promote", { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"hash":"x"}' })).status);
  check(told === 403, `sharing without the right is answered ${told}`);
  complaints.expect(/status of 403/);
});

part("files go with a task", async () => {
  const page = await open(config.played, { viewport: { width: 360, height: 740 } });
  const named = (name, text) => ({ name, mimeType: "text/csv", buffer: Buffer.from(text) });
  const chips = page.locator("#attached li");
  const chooser = page.waitForEvent("filechooser");
  await page.focus("[data-action=attach]");
  await page.keyboard.press("Enter");
  await (await chooser).setFiles([named("people.csv", "mail\nann@example.org\n"), named("notes.txt", "x")]);
  await chips.nth(1).waitFor();
  check((await page.textContent("#live")).includes("2 files"), "who cannot see is not told of the files");
  const give = (kind, name, size) => page.evaluate(([kind, name, size]) => {
    const data = new DataTransfer();
    data.items.add(new File([size ? new Uint8Array(size) : "given"], name));
    const e = kind === "drop" ? new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }) : new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
    document.getElementById("task").dispatchEvent(e);
  }, [kind, name, size]);
  await give("drop", "people.csv");
  await give("paste", ".a-name-that-is-much-longer-than-the-screen-of-a-phone-is-wide-and-has-no-place-to-break.bin", 2_000_000);
  await chips.nth(3).waitFor();
  await give("drop", "large.bin", 5_000_000);
  await page.locator("#toasts", { hasText: "6.0 MB together" }).waitFor();
  check((await chips.count()) === 4 && (await chips.nth(2).textContent()).includes("people-2.csv"), `attached is ${await chips.allTextContents()}`);
  check((await page.evaluate(() => document.documentElement.scrollWidth)) <= 360, "the composer is too wide");
  await page.locator("[aria-label='Remove notes.txt']").focus();
  await page.keyboard.press("Enter");
  check((await page.evaluate(() => document.activeElement.getAttribute("aria-label"))) === "Remove people-2.csv", "the focus is lost with the file");
  const turn = await ask(page, "read my files");
  await ends(turn);
  const read = await turn.locator(".output").textContent();
  check(/people\.csv: mail\n(\[EMAIL_1_|ann@example\.org)/.test(read) && read.includes("people-2.csv: given") && read.includes("3 files"), `the script read ${read}`);
  check(await page.locator("#attached").isHidden(), "the files stay attached");
});

part("a task may be long for who has signed in, and for nobody else", async () => {
  const page = await open(config.keyed);
  await page.fill("#credential", config.keys.all);
  await page.keyboard.press("Enter");
  await page.locator("#task").waitFor();
  await page.waitForLoadState();
  const task = "long " + "word ".repeat(40_000);
  await page.evaluate((text) => { document.getElementById("task").value = text; }, task);
  await page.setInputFiles("#attach", { name: "a.bin", mimeType: "application/octet-stream", buffer: Buffer.alloc(3_000_000, 1) });
  await page.locator("#attached li").waitFor();
  await page.click(".send");
  await ends(page.locator(".turn"));
  await page.context().clearCookies();
  const answer = await fetch(config.keyed + "/ui/ask", { method: "POST", headers: { "Content-Type": "application/json", Cookie: "airlock_session=forged" }, body: JSON.stringify({ task }) }).then((r) => r.status, () => "cut off");
  check(answer === 413 || answer === "cut off", `a stranger's long task is answered ${answer}`);
});

part("no script from outside runs", async () => {
  const page = await open(config.played);
  const outside = [];
  const note = (r) => { if (/^https?:/.test(r.url()) && !r.url().startsWith(config.played)) outside.push(r.url()); };
  page.on("requestfinished", note);
  page.on("requestfailed", (r) => { if (r.failure().errorText !== "csp") note(r); });
  const calm = async (where) => {
    check(!(await page.evaluate(() => window.ran)), `a script ran in ${where}`);
    complaints.expect(/Content Security Policy|sandboxed|Blocked script|ERR_BLOCKED_BY_CSP|status of 404/);
  };
  const payload = `<img src=x onerror="window.ran=1"><script>window.ran=1</script>`;
  const turn = await ask(page, `hostile ${payload}`);
  await ends(turn);
  check((await turn.locator(".bubble").textContent()) === `hostile ${payload}`, "the task is not shown as it was put");
  await calm("a chat that was watched");
  await page.reload();
  await page.locator(".turn .prose").first().waitFor();
  await calm("a chat that was reloaded");
  const names = await page.locator(".chip[data-name]").evaluateAll((all) => all.map((b) => b.dataset.name));
  check(names.length >= 6, `only ${names.length} files were made`);
  for (const name of names) {
    await page.evaluate(() => document.querySelector("#pane [data-action=close]")?.click());
    await page.locator(`.chip[data-name="${name}"]`).first().click();
    await page.locator("#pane h2").waitFor();
    if (name.endsWith(".html")) {
      const framed = page.frameLocator("#pane iframe").locator("body");
      await page.waitForTimeout(300);
      check((await framed.textContent()) === "refused refused refused refused refused refused", `in its frame a document did: ${await framed.textContent()}`);
    }
    await calm(name);
  }
  for (const path of ["/ui/files", "/ui/tasks", "/ui/skills", "/ui/skills/hostile", "/", "/ui/tools?q=" + encodeURIComponent(payload), "/ui/" + encodeURIComponent(payload), "/ui/chats/" + encodeURIComponent(payload)]) {
    await page.goto(path);
    await calm(path);
  }
  for (const name of names) { // opened by themselves, too
    const alone = await page.context().newPage();
    for (const way of [/svg$/.test(name) && "image", /html$/.test(name) && "frame"].filter(Boolean)) {
      const status = (await alone.goto(`/ui/files/${way}/${name}`)).status();
      if (way === "frame") {
        check(status === 403, `${name} is shown outside of its frame`);
        continue;
      }
      check(!(await alone.evaluate(() => window.ran)), `${name} ran`);
      check((await alone.evaluate(() => { try { return document.cookie + localStorage.length; } catch { return "refused"; } })) === "refused", `${name} has an origin`);
    }
    await alone.close();
  }
  check(outside.length === 0, `the page asked ${outside.join(", ")}`);
});

part("axe finds no serious violation", async () => {
  const found = [];
  const look = async (page, where) => {
    await page.evaluate(axe);
    for (const theme of ["light", "dark"]) { // which differ in colours only
      const violations = await page.evaluate(async (name) => {
        document.documentElement.dataset.theme = name;
        const only = name === "dark" ? { runOnly: { type: "rule", values: ["color-contrast"] } } : {};
        return (await window.axe.run(document, { resultTypes: ["violations"], ...only })).violations;
      }, theme);
      for (const v of violations) {
        if (v.impact === "serious" || v.impact === "critical") found.push(`${where}, ${theme}: ${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).join(" | ")}`);
      }
    }
  };
  const page = await open(config.guarded, { bypassCSP: true, reducedMotion: "reduce" });
  await look(page, "start");
  const turn = await ask(page, "customers for axe");
  await turn.locator(".approval.waits").waitFor();
  await look(page, "approval");
  await turn.locator("text=Approve for this task").click();
  await turn.locator(".approval.waits", { hasText: /Gives awayEMAIL/ }).locator("text=Approve once").click();
  await ends(turn);
  await look(page, "chat");
  await turn.locator(".chip").first().click();
  await page.locator("#pane td").first().waitFor();
  await look(page, "pane");
  await turn.locator("[data-action=privacy]").click();
  await page.locator("#pane [data-action=values]").first().click();
  await page.locator("#values td").first().waitFor();
  await look(page, "privacy");
  for (const path of ["files", "tasks", "skills", "skills/top-customers", "tools", "tools/database__query", "nothing"]) {
    await page.goto("/ui/" + path);
    await look(page, path);
  }
  complaints.expect(/status of 404/);
  const skill = { userId: "local", name: "axe", files: { "SKILL.md": "---\nname: axe\ndescription: Cuts wood.\n---\n# Axe\n" } };
  await page.request.post("/skills", { data: skill });
  await page.goto("/ui/skills/axe");
  await page.click("[data-action=review]");
  await page.locator("#pane .gi").first().waitFor();
  await look(page, "a skill's review");
  const stranger = await open(config.keyed, { bypassCSP: true, reducedMotion: "reduce" });
  await look(stranger, "signin");
  check(found.length === 0, found.join("\n"));
});

part("2,000 events leave the page quick", async () => {
  const page = await open(config.played);
  const turn = await ask(page, "flood the page");
  await turn.locator(".output", { hasText: "line 100" }).waitFor();
  const press = () => page.evaluate(() => new Promise((done) => {
    const field = document.getElementById("task");
    field.focus();
    const begun = performance.now();
    field.value += "x";
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    requestAnimationFrame(() => { const m = new MessageChannel(); m.port1.onmessage = () => done(performance.now() - begun); m.port2.postMessage(0); });
  }));
  const times = [];
  for (let i = 0; i < 20; i++) times.push(await press());
  await ends(turn);
  const events = (await (await page.request.get(`/tasks/${await turn.getAttribute("data-task")}/events?follow=false`)).text()).match(/^id: /gm).length;
  check(events >= 2000, `there were ${events} events only`);
  for (let i = 0; i < 20; i++) times.push(await press());
  check((await turn.locator(".output").textContent()).includes("line 2000"), "the end of the output is not shown");
  times.sort((a, b) => a - b);
  return `${events} events; key press to paint: median ${times[20].toFixed(1)} ms, worst ${times.at(-1).toFixed(1)} ms`;
});

part("the first paint takes less than 150 KB", async () => {
  const page = await open(config.plain);
  const client = await page.context().newCDPSession(page);
  let bytes = 0;
  client.on("Network.loadingFinished", (e) => { bytes += e.encodedDataLength; });
  await client.send("Network.enable");
  await client.send("Network.setCacheDisabled", { cacheDisabled: true });
  await page.goto("/", { waitUntil: "networkidle" });
  check(bytes > 5000 && bytes < 150_000, `the page takes ${bytes} bytes`);
  return `${bytes} bytes`;
});

await run();
