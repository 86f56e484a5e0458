// One item a screen. Text from transcripts only ever becomes text nodes and field values, never markup.
"use strict";

const token = new URLSearchParams(location.search).get("token") || "";
const by = (id) => document.getElementById(id);
const state = { queue: null, at: 0, view: null, drafts: new Map(), busy: false, checks: 0 };

function make(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("aria-") || name === "role" || name === "for") node.setAttribute(name, value);
    else node[name] = value;
  }
  node.append(...children);
  return node;
}

async function ask(path, body) {
  const options = { headers: { "x-review-token": token }, cache: "no-store" };
  if (body !== undefined) {
    options.method = "POST";
    options.headers["content-type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    alarm("The server does not answer, so the last step was not kept. Start followups review again with the same "
      + "decisions file and open the address it prints: everything before is on the disk.");
    throw new Error("offline");
  }
  if (answer.status === 403) {
    alarm("The server refuses this page. Open the address that followups review printed.");
    throw new Error("refused");
  }
  alarm("");
  const value = await answer.json();
  if (!answer.ok) throw Object.assign(new Error("problems"), { problems: value.problems || [] });
  return value;
}

function alarm(text) {
  by("alarm").textContent = text;
  by("alarm").hidden = !text;
}

let fading;
function say(text) {
  clearTimeout(fading);
  by("status").textContent = text;
  fading = setTimeout(() => { by("status").textContent = ""; }, 6000);
}

// Labels in the form, and as the server reads them.

const lines = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

function termLines(terms, aliases) {
  return terms.map((term) => [term, ...(aliases[term] || [])].join(" | ")).join("\n");
}

function readForm() {
  const aliases = {};
  const terms = (id) => lines(by(id).value).map((line) => {
    const [term, ...others] = line.split("|").map((word) => word.trim()).filter(Boolean);
    if (term && others.length) aliases[term] = others;
    return term;
  }).filter(Boolean);
  const required = terms("required");
  const forbidden = terms("forbidden");
  return {
    form: document.querySelector("input[name=form]:checked")?.value || "none",
    pivot: by("pivot").checked,
    returns: by("returns").checked,
    antecedent_turns: (by("antecedents").value.match(/\d+/g) || []).map(Number),
    required_in_rewrite: required,
    forbidden_in_rewrite: forbidden,
    aliases,
    reference_rewrite: by("rewrite").value.trim() || null,
    gold: lines(by("passages").value),
  };
}

function fillForm(labels) {
  for (const choice of document.querySelectorAll("input[name=form]")) choice.checked = choice.value === labels.form;
  by("pivot").checked = labels.pivot;
  by("returns").checked = labels.returns;
  by("antecedents").value = labels.antecedent_turns.join(", ");
  by("required").value = termLines(labels.required_in_rewrite, labels.aliases);
  by("forbidden").value = termLines(labels.forbidden_in_rewrite, labels.aliases);
  by("rewrite").value = labels.reference_rewrite || "";
  by("passages").value = labels.gold.join("\n");
  for (const area of document.querySelectorAll("#labels textarea")) fit(area);
}

function fit(area) {
  area.rows = Math.min(12, Math.max(area.id === "passages" ? 1 : 2, area.value.split("\n").length));
}

// Compared as what they say, not as they were spelt: order of turns and aliases does not matter.
function sameLabels(a, b) {
  const plain = (labels) => JSON.stringify({
    ...labels,
    antecedent_turns: [...new Set(labels.antecedent_turns)].sort((x, y) => x - y),
    aliases: Object.entries(labels.aliases).sort(([x], [y]) => (x < y ? -1 : 1)),
  });
  return plain(a) === plain(b);
}

// Painting

function textOf(pieces) {
  return pieces.map(([kind, text]) => {
    if (kind === "control") return make("span", { className: "control", title: "a character that cannot be seen" }, text);
    return kind ? make("mark", { className: kind }, text) : text;
  });
}

function turnNode(turn, isLast) {
  const counted = turn.turn > 0 && !isLast;
  const number = counted
    ? make("button", {
      type: "button", className: "number", "aria-pressed": String(turn.antecedent),
      "aria-label": `Turn ${turn.turn} supplies what is needed`, onclick: () => toggleTurn(turn.turn),
    }, String(turn.turn))
    : make("span", { className: "number off" }, isLast ? String(turn.turn) : "–");
  const notes = [make("span", {}, isLast ? "the follow-up" : turn.role)];
  if (turn.antecedent) notes.push(make("b", {}, "antecedent"));
  if (turn.inserted) notes.push(make("span", {}, "inserted"));
  const classes = ["turn", turn.role, turn.antecedent && "live", turn.inserted && "inserted", isLast && "last"];
  return make("li", { className: classes.filter(Boolean).join(" ") }, number, make("div", {},
    make("p", { className: "who" }, ...notes),
    make("p", { className: "said", dir: "auto" }, ...textOf(turn.pieces))));
}

function paintConversation(view) {
  const last = { turn: view.turn, role: "user", pieces: view.follow_up, antecedent: false, inserted: false };
  const held = document.activeElement?.closest("#turns .number")?.textContent;
  by("turns").replaceChildren(...view.prefix.map((turn) => turnNode(turn, false)), turnNode(last, true));
  if (held) [...document.querySelectorAll("#turns button")].find((button) => button.textContent === held)?.focus();
}

function paintDerived(view, problems) {
  const d = view.derived;
  const rows = [
    ["stratum", d.reference_type], ["d_live", d.d_live], ["d_stale", d.d_stale ?? "none"],
    ["introduced", d.d_introduced ? `${d.d_introduced} back` : "–"], ["right windows", d.windows],
  ];
  by("derived").replaceChildren(...rows.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, String(value))]));
  by("problems").replaceChildren(...problems.map((problem) => make("li", {}, problem)));
}

function paintDirty() {
  const dirty = !sameLabels(readForm(), state.view.given);
  by("labels").classList.toggle("dirty", dirty);
  by("accept").firstElementChild.textContent = dirty ? "Save edit" : "Accept";
  if (sameLabels(readForm(), state.view.labels)) state.drafts.delete(state.view.id);
  else state.drafts.set(state.view.id, readForm());
}

function paintItem(view) {
  const [id, decision] = state.queue.items[state.at];
  by("title").textContent = `Item ${state.at + 1}: ${view.derived.reference_type.replaceAll("_", " ")}`;
  by("facts").textContent = [
    id, `${view.conversation} turn ${view.turn}`, view.origin, view.language,
    `labelled by ${view.labelled_by}, confidence ${view.confidence}`,
    decision && `you decided: ${decision}${view.decision?.reason ? ` (${view.decision.reason})` : ""}`,
  ].filter(Boolean).join(" · ");
  by("gold").replaceChildren(...(view.gold.length ? [make("h2", {}, "Gold passages")] : []),
    ...view.gold.map((p) => make("details", {}, make("summary", {}, `${p.title || p.id}`), make("p", { dir: "auto" }, p.text))));
  by("proof").hidden = !view.proof.length;
  by("proof").lastElementChild.replaceChildren(
    ...view.proof.flatMap(([name, found]) => [make("dt", {}, name), make("dd", {}, found)]));
  paintReadings(view);
  paintConversation(view);
}

function paintReadings(view) {
  by("readings").hidden = !view.readings.length;
  by("readings").replaceChildren(...view.readings.map((reading) => {
    const labels = reading.labels;
    const fields = labels ? [
      ["stratum", reading.reference_type, "form"], ["form", labels.form, "form"],
      ["pivot", labels.pivot ? "yes" : "no", "pivot"], ["returns", labels.returns ? "yes" : "no", "returns"],
      ["antecedents", labels.antecedent_turns.join(", ") || "none", "antecedents"],
      ["required", labels.required_in_rewrite.join(", ") || "none", "required"],
      ["forbidden", labels.forbidden_in_rewrite.join(", ") || "none", "forbidden"],
    ] : [["decision", `reject: ${reading.reason} ${reading.note}`, "decision"]];
    const list = make("dl", {}, ...fields.flatMap(([name, value, differs]) => [
      make("dt", {}, name),
      make("dd", {}, make("span", { className: reading.differs.includes(differs) ? "differs" : "" }, value)),
    ]));
    const take = labels
      ? make("button", { type: "button", onclick: () => { fillForm(labels); changed(); by("accept").focus(); } }, `Take reading ${reading.reader}`)
      : make("button", { type: "button", onclick: openReject }, `Take reading ${reading.reader}`);
    return make("section", { className: "reading", "aria-label": `Reading ${reading.reader}` },
      make("h2", {}, `Reading ${reading.reader}`), list, take);
  }));
}

function paintProgress() {
  const { items } = state.queue;
  const decided = items.filter(([, decision]) => decision).length;
  by("bar").max = items.length;
  by("bar").value = decided;
  by("count").textContent = `${decided} of ${items.length} decided`;
  by("pass").textContent = state.queue.adjudicating ? "adjudication" : `pass ${state.queue.pass}`;
  document.title = `${decided}/${items.length} · review`;
}

// Moving

async function open(at, focus = true) {
  state.at = Math.max(0, Math.min(at, state.queue.items.length - 1));
  const [id] = state.queue.items[state.at];
  const view = await ask(`/api/item/${encodeURIComponent(id)}`);
  state.view = view;
  by("item").hidden = false;
  by("done").hidden = true;
  history.replaceState(null, "", `${location.pathname}${location.search}#${id}`);
  paintItem(view);
  const draft = state.drafts.get(id);
  fillForm(draft || view.labels);
  paintDerived(view, view.problems);
  paintDirty();
  if (draft) await changed();
  setDisabled(false);
  if (focus) {
    by("main").focus({ preventScroll: true });
    // What is asked stands at the end: a long conversation is read from there upwards.
    scrollTo(0, 0);
    document.querySelector(".turn.last").scrollIntoView({ block: "nearest" });
    document.querySelector(".side").scrollTop = 0;
  }
}

function setDisabled(done) {
  for (const id of ["accept", "edit", "reject"]) by(id).disabled = done;
}

function undecided(from) {
  const { items } = state.queue;
  for (let step = 0; step < items.length; step += 1) {
    const at = (from + step) % items.length;
    if (!items[at][1]) return at;
  }
  return -1;
}

async function onward(from) {
  const at = undecided(from);
  if (at >= 0) await open(at);
  else finish();
}

function finish() {
  const count = (kind) => state.queue.items.filter(([, decision]) => decision === kind).length;
  by("item").hidden = true;
  by("done").hidden = false;
  by("summary").textContent = `${count("accept")} accepted, ${count("edit")} edited, ${count("reject")} rejected.`
    + (state.queue.agreement ? ` Agreement of the two passes: ${agreement(state.queue.agreement)}` : "");
  setDisabled(true);
  by("main").focus();
}

function agreement(figures) {
  const kappas = Object.entries(figures.kappa).map(([name, value]) => `${name} ${value.toFixed(2)}`);
  return `kappa ${kappas.join(", ")}; required terms overlap ${figures.required_overlap.toFixed(2)}, `
    + `forbidden ${figures.forbidden_overlap.toFixed(2)} (${figures.n} items).`;
}

// Deciding

async function send(body, done) {
  if (state.busy) return;
  state.busy = true;
  try {
    const kept = await ask("/api/decide", body);
    state.queue.items[state.at][1] = kept.decision;
    state.drafts.delete(body.id);
    await onward(state.at + 1);
    paintProgress();
    say(`${done(kept.decision)} ${by("count").textContent}.`);
  } catch (error) {
    if (error.problems) refuse(error.problems);
    else if (!["offline", "refused"].includes(error.message)) throw error;
  } finally {
    state.busy = false;
  }
}

function refuse(problems) {
  by("problems").replaceChildren(...problems.map((problem) => make("li", {}, problem.replace(/^review: \S+: /, ""))));
  say(`Not kept: the labels break ${problems.length === 1 ? "a rule" : `${problems.length} rules`}. ${problems[0]}`);
  by("required").focus();
}

const accept = () => send({ id: state.view.id, decision: "accept", labels: readForm() },
  (decision) => (decision === "edit" ? "Saved your edit." : "Accepted."));

function openReject() {
  if (by("reject").disabled) return;
  by("note").value = "";
  by("reject-dialog").showModal();
  document.querySelector("input[name=reason]").focus();
}

async function reject(event) {
  event.preventDefault();
  const reason = document.querySelector("input[name=reason]:checked")?.value;
  if (!reason) return;
  by("reject-dialog").close();
  await send({ id: state.view.id, decision: "reject", reason, note: by("note").value.trim() }, () => "Rejected.");
}

async function undo() {
  if (state.busy) return;
  state.busy = true;
  try {
    const { id } = await ask("/api/undo", {});
    if (!id) { say("Nothing to undo in this pass."); return; }
    const at = state.queue.items.findIndex(([name]) => name === id);
    state.queue = await ask("/api/queue");
    if (at >= 0) await open(at);
    paintProgress();
    say("Undone; the item is open again.");
  } catch (error) {
    if (!["offline", "refused"].includes(error.message)) throw error;
  } finally {
    state.busy = false;
  }
}

// Editing

function toggleTurn(number) {
  const turns = new Set(readForm().antecedent_turns);
  if (!turns.delete(number)) turns.add(number);
  by("antecedents").value = [...turns].sort((a, b) => a - b).join(", ");
  changed();
}

async function changed() {
  paintDirty();
  state.checks += 1;
  const mine = state.checks;
  const { id } = state.view;
  try {
    const view = await ask("/api/check", { id, labels: readForm() });
    if (mine !== state.checks || state.view.id !== id) return;
    paintConversation(view);
    paintDerived(view, view.problems);
  } catch (error) {
    if (error.problems && mine === state.checks) paintDerived(state.view, error.problems);
  }
}

let waiting;
function changing(event) {
  if (event.target.tagName === "TEXTAREA") fit(event.target);
  clearTimeout(waiting);
  waiting = setTimeout(changed, 180);
  paintDirty();
}

function discard() {
  state.drafts.delete(state.view.id);
  fillForm(state.view.labels);
  changed();
  say("Your changes to this item are thrown away.");
}

// Keys

const keys = {
  a: () => by("accept").click(),
  e: () => (document.querySelector("input[name=form]:checked") || by("antecedents")).focus(),
  r: () => by("reject").click(),
  u: undo,
  j: () => open(state.at + 1),
  k: () => open(state.at - 1),
  n: () => onward(state.at + 1),
  x: discard,
  "?": () => by("help").showModal(),
};

function pressed(event) {
  const inField = event.target.matches("textarea, input:not([type=radio]):not([type=checkbox])");
  if (by("reject-dialog").open) {
    const choice = !inField && document.querySelectorAll("input[name=reason]")[Number(event.key) - 1];
    if (choice) { choice.checked = true; choice.focus(); event.preventDefault(); }
    if (event.key === "Enter" && !inField) by("reject-form").requestSubmit();
    return;
  }
  if (by("help").open) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); by("accept").click(); return; }
  if (event.key === "Escape" && event.target !== document.body) { by("main").focus({ preventScroll: true }); return; }
  if (inField || event.ctrlKey || event.metaKey || event.altKey || !by("single-keys").checked) return;
  // Undo and help need no open item: the last decision may have been the wrong one.
  if (!state.view && !["u", "?"].includes(event.key)) return;
  const act = keys[event.key];
  if (act) { event.preventDefault(); act(); }
}

async function start() {
  state.queue = await ask("/api/queue");
  by("forms").append(...state.queue.forms.map(([name, meaning]) => make("label", { title: meaning },
    make("input", { type: "radio", name: "form", value: name }), name)));
  by("reasons").append(...state.queue.reasons.map(([name, meaning], place) => make("label", {},
    make("input", { type: "radio", name: "reason", value: name, checked: place === 0 }),
    `${place + 1} ${name.replaceAll("_", " ")}`, make("small", {}, meaning))));
  by("accept").onclick = accept;
  by("edit").onclick = keys.e;
  by("reject").onclick = openReject;
  by("undo").onclick = undo;
  by("previous").onclick = keys.k;
  by("next").onclick = keys.j;
  by("open-help").onclick = keys["?"];
  by("reject-cancel").onclick = () => by("reject-dialog").close();
  by("reject-form").onsubmit = reject;
  by("labels").onsubmit = (event) => event.preventDefault();
  by("labels").oninput = changing;
  addEventListener("keydown", pressed);
  paintProgress();
  const asked = state.queue.items.findIndex(([id]) => id === location.hash.slice(1));
  if (asked >= 0) await open(asked);
  else await onward(0);
}

start().catch((error) => { if (!["offline", "refused"].includes(error.message)) alarm(`The page failed: ${error.message}`); });
