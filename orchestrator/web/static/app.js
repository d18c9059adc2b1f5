// The page's one script. It adds no markup of its own: what it puts into the page was
// rendered by the server's templates, and everything else is text.
"use strict";

const $ = (id) => document.getElementById(id);
const trusted = window.trustedTypes
  ? trustedTypes.createPolicy("airlock", { createHTML: (html) => html })
  : { createHTML: (html) => html };

/** fragment turns markup of the server into nodes. */
function fragment(html) {
  const t = document.createElement("template");
  t.innerHTML = trusted.createHTML(html);
  localTimes(t.content);
  return t.content;
}

/** localTimes shows times as the reader's clock does. */
function localTimes(root) {
  for (const time of root.querySelectorAll("time")) {
    const at = new Date(time.dateTime);
    const today = at.toDateString() === new Date().toDateString();
    time.textContent = at.toLocaleString(undefined, today ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" });
  }
}

function say(text) { $("live").textContent = text; }

function toast(message, hint) {
  const box = document.createElement("div");
  const head = document.createElement("strong");
  head.textContent = message;
  box.append(head, hint ? " " + hint : "");
  $("toasts").replaceChildren(box);
  setTimeout(() => box.remove(), 8000);
}

/** send asks the server; what it refuses is shown, and thrown. */
async function send(method, url, body) {
  let answer;
  try {
    answer = await fetch(url, {
      method,
      headers: body === undefined ? { Accept: "application/json" } : { Accept: "application/json", "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    toast("The server cannot be reached.", "Try again in a moment.");
    throw new Error("unreachable");
  }
  return answer.ok ? answer : refused(answer);
}

/** refused shows what the server said instead of doing it. */
async function refused(answer) {
  const { error } = await answer.json().catch(() => ({ error: { message: "The server answered " + answer.status, hint: "" } }));
  if (answer.status === 401 && !$("signin")) signedOut();
  else if (!$("signin")) toast(error.message, error.hint);
  throw Object.assign(new Error(error.message), { told: error, status: answer.status });
}

/** signedOut leaves what is read where it is, and what was typed is there again after
    signing in. */
function signedOut() {
  const link = document.createElement("a");
  link.textContent = "Sign in again";
  link.href = "/ui/signin?ended=1&back=" + encodeURIComponent(location.pathname);
  link.addEventListener("click", () => { if ($("task")) sessionStorage.setItem("draft", $("task").value); });
  const box = document.createElement("div");
  box.append("Your sign-in has ended. ", link);
  $("toasts").replaceChildren(box);
}

const json = async (...request) => (await send(...request)).json();
const text = async (...request) => (await send(...request)).text();

// Scrolling: the page follows what is new while its reader is at the end, and leaves
// them alone while they are not.

const scroller = document.scrollingElement;
const atEnd = () => scroller.scrollHeight - scroller.scrollTop - window.innerHeight < 120;
let following = true;

function follow(change) {
  following = atEnd();
  change();
  const jump = document.querySelector(".jump");
  if (following) scroller.scrollTop = scroller.scrollHeight;
  else if (jump) jump.hidden = false;
}

window.addEventListener("scroll", () => {
  const jump = document.querySelector(".jump");
  if (jump && atEnd()) jump.hidden = true;
}, { passive: true });

// Streams: the server sends patches, each with the id of an element.

const words = {
  queued: "In line", running: "Working", awaiting_approval: "Waiting for you",
  completed: "Done", failed: "Failed", cancelled: "Stopped",
};
const streams = new Map();
// A browser keeps six connections to a server: some are left for what the reader does.
// The tasks of a chat run one after the other, so that no more have something to tell.
const maxStreams = 2;
let title = document.title;

function apply(patch) {
  const at = $(patch.at);
  switch (patch.do) {
    case "append": {
      if (!at) return;
      const nodes = fragment(patch.html);
      const first = nodes.firstElementChild;
      const known = first && $(first.id);
      if (known) known.replaceWith(nodes);
      else at.append(nodes);
      return;
    }
    case "replace":
      if (at) keepFocus(at, () => at.replaceWith(fragment(patch.html)));
      return;
    case "print":
      if (at) at.append(patch.text);
      return;
    case "fill":
      if (at) at.textContent = patch.text;
      return;
    case "fold":
      if (at) fold(at.querySelector("details"));
      return;
    case "status": {
      const turn = $("turn-" + patch.at);
      if (!turn || turn.dataset.status === patch.text) return;
      turn.dataset.status = patch.text;
      tell(turn);
      return;
    }
    case "title":
      if ($("turns").querySelector(".turn") === $("turn-" + patch.at)) nameChat(chatItem(session()), patch.text);
  }
}

/** tell says how a turn is, and shows how the chat is: in the tab's title, where a turn
    waits for its reader, and in the list. What the page was loaded with counts like what
    came later. */
function tell(turn) {
  const { status } = turn.dataset;
  say(words[status] || status);
  markTitle();
  const dot = chatItem(session())?.querySelector(".dot");
  if (dot) dot.hidden = !document.querySelector(".turn[data-status=queued], .turn[data-status=running], .turn[data-status=awaiting_approval]");
}

function markTitle() {
  const waits = document.querySelector(".turn[data-status=awaiting_approval]");
  document.title = (waits ? "● " : "") + title;
}

/** fold closes the code of a script that has ended, unless somebody has it in hand or,
    away from the end of the page, in view. */
function fold(details) {
  const { top, bottom } = details.getBoundingClientRect();
  const inView = bottom > 0 && top < window.innerHeight;
  const marked = details.contains(getSelection().anchorNode) && !getSelection().isCollapsed;
  if (marked || details.dataset.kept || details.matches(":hover, :focus-within") || (inView && !following)) return;
  details.open = false;
}

const chatItem = (id) => document.querySelector(`#chats [data-chat="${CSS.escape(id)}"]`);

/** nameChat shows a chat's title wherever it is. */
function nameChat(item, name) {
  if (!item) return;
  item.querySelector(".name").textContent = name;
  for (const button of item.querySelectorAll("button")) button.setAttribute("aria-label", button.dataset.label + " " + name);
  if (item.dataset.chat !== session()) return;
  document.querySelector("h1").textContent = name;
  title = name + " · airlock";
  markTitle();
}

/** keepFocus gives the focus to what comes in the place of an element that has it. */
function keepFocus(at, change) {
  const focused = document.activeElement;
  const { id } = at;
  change();
  if (focused === document.body || focused.isConnected) return;
  const now = $(id);
  (now.querySelector(`[data-action="${focused.dataset.action}"]`) || now.querySelector("button, a") || now).focus({ preventScroll: true });
}

/** watch follows a turn that goes on, from the event on that the page has. What a browser
    does not try again by itself, such as after an error of the server, is tried here. */
function watch(turn, most = maxStreams) {
  const id = turn.dataset.task;
  if (turn.dataset.after === undefined || streams.has(id) || streams.size >= most) return;
  const lacks = $("asked-" + id).textContent === "" ? "&asked=1" : "";
  const source = new EventSource(`/ui/tasks/${encodeURIComponent(id)}/stream?after=${turn.dataset.after}${lacks}`);
  let silence;
  const close = () => { clearTimeout(silence); source.close(); streams.delete(id); };
  const alive = () => {
    clearTimeout(silence);
    silence = setTimeout(() => { close(); watch(turn); }, 45_000); // three beats: the connection is dead
  };
  streams.set(id, source);
  alive();
  source.onopen = () => { turn.dataset.tries = 0; alive(); };
  source.addEventListener("beat", alive);
  source.onmessage = (e) => {
    alive();
    const patches = JSON.parse(e.data);
    turn.dataset.after = e.lastEventId;
    follow(() => patches.forEach(apply));
  };
  source.addEventListener("end", () => {
    close();
    delete turn.dataset.after;
    watchAll();
  });
  source.onerror = () => {
    if (source.readyState !== EventSource.CLOSED) return;
    close();
    watchAgain(turn).catch(() => {}); // it was told
  };
}

function watchAll() {
  for (const turn of document.querySelectorAll(".turn[data-after]")) watch(turn);
}

/** watchAgain waits longer each time, and first asks for the task itself: who is signed
    out, or whose chat was deleted, is told so. */
async function watchAgain(turn) {
  const tries = Number(turn.dataset.tries || 0);
  turn.dataset.tries = tries + 1;
  await new Promise((done) => { setTimeout(done, Math.min(1000 * 2 ** tries, 30_000)); });
  const answer = await fetch(`/ui/tasks/${encodeURIComponent(turn.dataset.task)}/turn`, { headers: { Accept: "application/json" } }).catch(() => null);
  if (!answer || answer.ok || answer.status >= 500 || answer.status === 429) watch(turn);
  else await refused(answer);
}

// Asking.

const session = () => ($("chat") ? $("chat").dataset.session : "");
const channel = "BroadcastChannel" in window ? new BroadcastChannel("airlock") : null;

/** ask sends a task. Until it is taken the composer takes no other. */
async function ask(task, attached = []) {
  busy(true);
  try {
    const files = await Promise.all(attached.map(async ({ name, file }) => ({ name, content: await base64(file) })));
    const answer = await json("POST", "/ui/ask", { task, session: session(), files });
    if (!session()) { location.assign("/ui/chats/" + encodeURIComponent(answer.session)); return; }
    busy(false);
    addTurn(answer.task, answer.html);
    if (channel) channel.postMessage({ session: answer.session, task: answer.task });
  } catch (error) {
    busy(false);
    throw error;
  }
}

const busy = (is) => { document.querySelector(".send").disabled = is; };
const isBusy = () => document.querySelector(".send").disabled;

function addTurn(id, html) {
  if ($("turn-" + id)) return;
  $("turns").append(fragment(html));
  tell($("turn-" + id));
  scroller.scrollTop = scroller.scrollHeight;
  watch($("turn-" + id));
}

// Another tab has asked something in this chat, or wants to know what was asked while it
// was loaded.
if (channel && session()) {
  channel.onmessage = async ({ data }) => {
    if (data.session !== session()) return;
    const last = document.querySelector(".turn:last-child");
    if (!data.task && last) channel.postMessage({ session: session(), task: last.dataset.task });
    if (!data.task || $("turn-" + data.task)) return;
    addTurn(data.task, await text("GET", `/ui/tasks/${encodeURIComponent(data.task)}/turn`));
  };
  channel.postMessage({ session: session() });
}

// Files that go with the next task.

const maxFiles = 100;
const maxFileBytes = 6_000_000; // the server takes 8 MiB at once, in base64
let files = [];

const sizeOf = (list) => list.reduce((sum, { file }) => sum + file.size, 0);
const inMB = (n) => (n < 100_000 ? (n / 1000).toFixed(1) + " KB" : (n / 1_000_000).toFixed(1) + " MB");

function base64(file) {
  return new Promise((done, fail) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result.slice(reader.result.indexOf(",") + 1));
    reader.onerror = () => {
      toast(`${file.name} cannot be read.`, "Remove it, or attach it again.");
      fail(reader.error);
    };
    reader.readAsDataURL(file);
  });
}

/** nameFor gives a file a name that the server takes and no other has. */
function nameFor(file) {
  const name = file.name.replace(/^[.\s]+/, "") || "file";
  const dot = name.lastIndexOf(".");
  const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
  let free = name;
  for (let n = 2; files.some((f) => f.name === free); n++) free = `${stem}-${n}${ending}`;
  return free;
}

function attach(list) {
  for (const file of list) {
    if (files.length >= maxFiles) toast(`No more than ${maxFiles} files go with a task.`, "Pack them into fewer.");
    else if (sizeOf(files) + file.size > maxFileBytes) toast(`${file.name} is too large.`, `The files of a task may have ${inMB(maxFileBytes)} together.`);
    else files.push({ name: nameFor(file), file });
  }
  showFiles();
}

function showFiles() {
  $("attached").replaceChildren(...files.map(({ name, file }) => {
    const chip = $("attachment").content.cloneNode(true);
    chip.querySelector("span").textContent = name;
    chip.querySelector("small").textContent = inMB(file.size);
    chip.querySelector("button").setAttribute("aria-label", "Remove " + name);
    return chip;
  }));
  $("attached").hidden = $("attached-size").hidden = files.length === 0;
  const said = `${files.length === 1 ? "1 file" : files.length + " files"}, ${inMB(sizeOf(files))} of ${inMB(maxFileBytes)}`;
  $("attached-size").textContent = said;
  say(files.length ? "Attached: " + said : "No file is attached");
}

if ($("ask")) {
  const dropped = (e) => e.dataTransfer && [...e.dataTransfer.types].includes("Files");
  const dropping = (is) => document.body.classList.toggle("dropping", is);
  $("attach").addEventListener("change", () => {
    attach($("attach").files);
    $("attach").value = "";
    $("task").focus();
  });
  document.addEventListener("dragover", (e) => {
    if (!dropped(e)) return;
    e.preventDefault();
    dropping(true);
  });
  document.addEventListener("dragleave", (e) => { if (!e.relatedTarget) dropping(false); });
  document.addEventListener("drop", (e) => {
    dropping(false);
    if (!dropped(e)) return;
    e.preventDefault();
    attach(e.dataTransfer.files);
  });
  $("task").addEventListener("paste", (e) => {
    if (!e.clipboardData.files.length || e.clipboardData.types.includes("text/plain")) return; // a sheet's cells are text
    e.preventDefault();
    attach(e.clipboardData.files);
  });
}

// The pane at the side.

let opener = null;

function openPane(html, from) {
  const pane = $("pane");
  if (from) opener = from;
  pane.replaceChildren(fragment(html));
  pane.hidden = false;
  document.body.classList.add("split");
  pane.querySelector("h2").focus();
}

function closePane() {
  $("pane").hidden = true;
  $("pane").replaceChildren();
  document.body.classList.remove("split");
  if (opener && opener.isConnected) opener.focus();
}

/** choose asks in a dialog; it gives null, or what was typed. */
function choose({ title: head, text: body, ok, value, danger }) {
  const dialog = $("dialog");
  $("dialog-title").textContent = head;
  $("dialog-text").textContent = body || "";
  $("dialog-ok").textContent = ok;
  $("dialog-ok").classList.toggle("danger", Boolean(danger));
  $("dialog-label").hidden = value === undefined;
  $("dialog-input").value = value || "";
  dialog.returnValue = "";
  dialog.showModal();
  if (value !== undefined) $("dialog-input").select();
  return new Promise((done) => {
    dialog.onclose = () => done(dialog.returnValue === "ok" ? $("dialog-input").value : null);
  });
}

function menu(open) {
  document.body.classList.toggle("menu-open", open);
  document.querySelector(".shade").hidden = !open;
  const button = document.querySelector(".bar [data-action=menu]");
  button.setAttribute("aria-expanded", String(open));
  if (open) $("menu").querySelector("a:not(.brand)").focus();
  else button.focus();
}

// What buttons do, by their data-action.

const taskOf = (el) => el.closest("[data-task]").dataset.task;
const taskURL = (el) => "/ui/tasks/" + encodeURIComponent(taskOf(el));
const skillURL = () => document.querySelector("[data-skill]").dataset.skill;
const asked = (el) => $("asked-" + taskOf(el)).textContent;

const actions = {
  menu: () => menu(!document.body.classList.contains("menu-open")),
  example: (el) => { if (!isBusy()) return ask(el.dataset.task); },
  attach: () => $("attach").click(),
  detach: (el) => {
    const at = [...document.querySelectorAll("#attached [data-action=detach]")].indexOf(el);
    files.splice(at, 1);
    showFiles();
    const left = document.querySelectorAll("#attached [data-action=detach]");
    (left[Math.min(at, left.length - 1)] || document.querySelector("[data-action=attach]")).focus();
  },
  jump: () => { scroller.scrollTop = scroller.scrollHeight; },
  retry: (el) => { if (!isBusy()) return ask(asked(el)); },
  edit: (el) => {
    $("task").value = asked(el);
    $("task").focus();
  },
  stop: async (el) => {
    const turn = el.closest(".turn");
    el.disabled = true;
    try {
      await json("POST", taskURL(el) + "/cancel", {});
      if (turn) watch(turn, maxStreams + 1); // it may stand in line
      else location.reload();
    } finally { el.disabled = false; }
  },
  decide: async (el) => {
    const card = el.closest(".approval");
    const buttons = card.querySelectorAll("button");
    const url = `${taskURL(el)}/approvals/${encodeURIComponent(card.dataset.approval)}`;
    card.focus({ preventScroll: true }); // a disabled button would lose it
    buttons.forEach((b) => { b.disabled = true; });
    try {
      await json("POST", url, { decision: el.dataset.decision, scope: el.dataset.scope });
    } catch {
      buttons.forEach((b) => { b.disabled = false; });
    }
  },
  arguments: async (el) => {
    const card = el.closest(".approval");
    const { text: real } = await json("GET", `${taskURL(el)}/approvals/${encodeURIComponent(card.dataset.approval)}/values`);
    card.querySelector(".arguments").textContent = real;
    el.remove();
  },
  privacy: async (el) => openPane(await text("GET", taskURL(el) + "/privacy"), el),
  values: async (el) => {
    $("values").replaceChildren(fragment(await text("GET", `${taskURL(el)}/privacy/${encodeURIComponent(el.dataset.type)}`)));
  },
  view: async (el) => openPane(await text("GET", "/ui/files/view/" + el.dataset.name), el),
  close: closePane,
  dismiss: () => $("dialog").close(),
  copy: async (el) => {
    await navigator.clipboard.writeText(el.parentElement.querySelector("pre").textContent);
    el.textContent = "Copied";
    setTimeout(() => { el.textContent = "Copy"; }, 1500);
  },
  theme: () => {
    const now = document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    const next = now === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    document.cookie = `airlock_theme=${next}; path=/; max-age=31536000; samesite=strict`;
  },
  rename: async (el) => {
    const item = el.closest("[data-chat]");
    const name = item.querySelector(".name");
    const title = await choose({ title: "Rename this chat", ok: "Rename", value: name.textContent });
    if (title === null || title.trim() === "") return;
    await json("PATCH", "/ui/chats/" + encodeURIComponent(item.dataset.chat), { title });
    nameChat(item, title.trim());
    el.focus();
  },
  delete: async (el) => {
    const item = el.closest("[data-chat]");
    const sure = await choose({
      title: "Delete this chat?", ok: "Delete", danger: true,
      text: "Its tasks go, and the values behind its tokens are forgotten for good. Files stay, with tokens in them.",
    });
    if (sure === null) return;
    await json("DELETE", "/ui/chats/" + encodeURIComponent(item.dataset.chat));
    if (item.dataset.chat === session()) location.assign("/");
    else item.remove();
  },
  changes: async (el) => openPane(await text("GET", `${skillURL()}/diff/${el.dataset.number}`), el),
  restore: async (el) => {
    const sure = await choose({ title: `Restore version ${el.dataset.number}?`, ok: "Restore", text: "It is saved again as the newest version. No version is lost." });
    if (sure === null) return;
    await json("POST", skillURL() + "/rollback", { number: Number(el.dataset.number) });
    location.reload();
  },
  review: async (el) => openPane(await text("GET", skillURL() + "/review"), el),
  promote: async (el) => { location.assign((await json("POST", skillURL() + "/promote", { hash: el.dataset.hash })).go); },
  "delete-skill": async () => {
    const sure = await choose({ title: "Delete this skill?", ok: "Delete", danger: true, text: "It goes with all its versions." });
    if (sure !== null) location.assign((await json("DELETE", skillURL())).go);
  },
  "sign-out": async () => { location.assign((await json("POST", "/ui/signout", {})).go); },
};

document.addEventListener("click", (e) => {
  const summary = e.target.closest("summary");
  if (summary) summary.parentElement.dataset.kept = "yes";
  const el = e.target.closest("[data-action]");
  const act = el && actions[el.dataset.action];
  if (!act) return;
  Promise.resolve(act(el)).catch(() => {}); // it was told
});

document.addEventListener("keydown", (e) => {
  if (e.key === "Escape" && !$("dialog")?.open) {
    if (document.body.classList.contains("menu-open")) menu(false);
    else if ($("pane") && !$("pane").hidden) closePane();
  }
  if (e.target.id === "task" && e.key === "Enter" && !e.shiftKey && !e.isComposing) {
    e.preventDefault();
    $("ask").requestSubmit();
  }
});

/** onSubmit answers for a form, whose button is off until then: the browser would send
    the form by itself. */
function onSubmit(id, handle) {
  const form = $(id);
  if (!form) return;
  form.querySelector("button:not([type=button])").disabled = false;
  form.addEventListener("submit", (e) => {
    e.preventDefault();
    Promise.resolve(handle(form)).catch(() => {}); // it was told
  });
}

onSubmit("ask", async () => {
  const field = $("task");
  const task = field.value.trim();
  if (!task || isBusy()) return;
  field.value = "";
  try {
    await ask(task, files);
    files = [];
    if (session()) showFiles();
  } catch (error) {
    if (!field.value) field.value = task;
    throw error;
  }
});

onSubmit("try", async (form) => {
  const out = $("try-out");
  const answer = await json("POST", "/ui/tools/" + encodeURIComponent(form.dataset.name), { arguments: $("arguments").value });
  out.hidden = false;
  out.textContent = `${answer.status}, ${answer.durationMs} ms\n\n${answer.text}`;
  say("Answered");
});

onSubmit("signin", async (form) => {
  $("signin-error").textContent = "";
  try {
    location.assign((await json("POST", "/ui/signin", { credential: $("credential").value, back: form.dataset.back })).go);
  } catch (error) {
    $("signin-error").textContent = error.message;
    $("credential").select();
  }
});

if ($("find")) {
  $("find").addEventListener("input", () => {
    const wanted = $("find").value.trim().toLowerCase();
    let found = 0;
    for (const item of document.querySelectorAll("#chats [data-chat]")) {
      item.hidden = !item.querySelector(".name").textContent.toLowerCase().includes(wanted);
      if (!item.hidden) found++;
    }
    $("none-found").hidden = found > 0;
  });
}

localTimes(document);
if ($("task")) {
  $("task").value ||= sessionStorage.getItem("draft") || "";
  sessionStorage.removeItem("draft");
}
const lastTurn = document.querySelector(".turn:last-child");
if (lastTurn) {
  tell(lastTurn);
  if (!location.hash) scroller.scrollTop = scroller.scrollHeight;
}
watchAll();
// What comes back from the browser's own store has missed what happened since.
window.addEventListener("pageshow", (e) => { if (e.persisted) location.reload(); });
