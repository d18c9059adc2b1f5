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
  if (answer.ok) return answer;
  const { error } = await answer.json().catch(() => ({ error: { message: "The server answered " + answer.status, hint: "" } }));
  if (answer.status === 401 && !$("signin")) { location.assign("/ui/signin"); throw new Error("signed out"); }
  if (!$("signin")) toast(error.message, error.hint);
  throw Object.assign(new Error(error.message), { told: error, status: answer.status });
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
const title = document.title;

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
    case "status": {
      const turn = $("turn-" + patch.at);
      if (!turn || turn.dataset.status === patch.text) return;
      turn.dataset.status = patch.text;
      say(words[patch.text] || patch.text);
      markTitle();
      markChat(patch.text);
    }
  }
}

/** markTitle shows in the tab's title that a turn waits for its reader. */
function markTitle() {
  const waits = document.querySelector(".turn[data-status=awaiting_approval]");
  document.title = (waits ? "● " : "") + title;
}

/** keepFocus gives the focus back to the like of an element that is replaced. */
function keepFocus(at, change) {
  const focused = document.activeElement;
  const action = at.contains(focused) && focused.dataset.action;
  const id = at.id;
  change();
  if (!action) return;
  const again = $(id) && $(id).querySelector("button, a");
  (again || $("task") || document.body).focus();
}

function markChat(status) {
  const item = document.querySelector(`#chats [data-chat="${CSS.escape(session())}"] a`);
  if (!item) return;
  const dot = item.querySelector(".dot");
  if (dot && words[status] && !["queued", "running", "awaiting_approval"].includes(status)) dot.remove();
}

function watch(turn) {
  const id = turn.dataset.task;
  if (turn.dataset.after === undefined || streams.has(id)) return;
  const source = new EventSource(`/ui/tasks/${encodeURIComponent(id)}/stream?after=${turn.dataset.after}`);
  streams.set(id, source);
  const stop = () => { source.close(); streams.delete(id); delete turn.dataset.after; };
  source.onmessage = (e) => {
    const patches = JSON.parse(e.data);
    turn.dataset.after = e.lastEventId;
    follow(() => patches.forEach(apply));
  };
  source.addEventListener("end", stop);
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) {
      stop();
      toast("The connection to this task was lost.", "Reload the page to go on.");
    }
  };
}

// Asking.

const session = () => ($("chat") ? $("chat").dataset.session : "");
const channel = "BroadcastChannel" in window ? new BroadcastChannel("airlock") : null;

async function ask(task) {
  const form = $("ask");
  if (form.dataset.busy) return;
  form.dataset.busy = "yes";
  try {
    const answer = await json("POST", "/ui/ask", { task, session: session() });
    if (!session()) { location.assign("/ui/chats/" + encodeURIComponent(answer.session)); return; }
    addTurn(answer.task, answer.html);
    if (channel) channel.postMessage({ session: answer.session, task: answer.task });
  } finally {
    delete form.dataset.busy;
  }
}

function addTurn(id, html) {
  if ($("turn-" + id)) return;
  $("turns").append(fragment(html));
  markTitle();
  scroller.scrollTop = scroller.scrollHeight;
  watch($("turn-" + id));
}

// Another tab has asked something in this chat.
if (channel) {
  channel.onmessage = async ({ data }) => {
    if (data.session !== session() || $("turn-" + data.task)) return;
    addTurn(data.task, await text("GET", `/ui/tasks/${encodeURIComponent(data.task)}/turn`));
  };
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
function choose({ title: head, text: body, ok, value }) {
  const dialog = $("dialog");
  $("dialog-title").textContent = head;
  $("dialog-text").textContent = body || "";
  $("dialog-ok").textContent = ok;
  $("dialog-ok").classList.toggle("danger", value === undefined);
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
const asked = (el) => $("asked-" + taskOf(el)).textContent;

const actions = {
  menu: () => menu(!document.body.classList.contains("menu-open")),
  example: (el) => ask(el.dataset.task),
  jump: () => { scroller.scrollTop = scroller.scrollHeight; },
  retry: (el) => ask(asked(el)),
  edit: (el) => {
    $("task").value = asked(el);
    $("task").focus();
  },
  stop: async (el) => {
    el.disabled = true;
    try {
      await json("POST", taskURL(el) + "/cancel", {});
      if (el.closest("tr")) location.reload();
    } finally { el.disabled = false; }
  },
  decide: async (el) => {
    const card = el.closest(".approval");
    const buttons = card.querySelectorAll("button");
    buttons.forEach((b) => { b.disabled = true; });
    try {
      await json("POST", `${taskURL(el)}/approvals/${encodeURIComponent(card.dataset.approval)}`, { decision: el.dataset.decision, scope: el.dataset.scope });
      $("task").focus();
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
    name.textContent = title.trim();
    el.focus();
  },
  delete: async (el) => {
    const item = el.closest("[data-chat]");
    const sure = await choose({
      title: "Delete this chat?", ok: "Delete",
      text: "Its tasks go, and the values behind its tokens are forgotten for good. Files stay, with tokens in them.",
    });
    if (sure === null) return;
    await json("DELETE", "/ui/chats/" + encodeURIComponent(item.dataset.chat));
    if (item.dataset.chat === session()) location.assign("/");
    else item.remove();
  },
  "sign-out": async () => { location.assign((await json("POST", "/ui/signout", {})).go); },
};

document.addEventListener("click", (e) => {
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

function onSubmit(id, handle) {
  const form = $(id);
  if (!form) return;
  form.addEventListener("submit", (e) => {
    e.preventDefault();
    Promise.resolve(handle(form)).catch(() => {}); // it was told
  });
}

onSubmit("ask", async () => {
  const field = $("task");
  const task = field.value.trim();
  if (!task) return;
  field.value = "";
  try {
    await ask(task);
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

onSubmit("signin", async () => {
  $("signin-error").textContent = "";
  try {
    location.assign((await json("POST", "/ui/signin", { credential: $("credential").value })).go);
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
markTitle();
document.querySelectorAll(".turn[data-after]").forEach(watch);
if (document.querySelector(".turn") && !location.hash) scroller.scrollTop = scroller.scrollHeight;
