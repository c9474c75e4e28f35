// Keys, marks, texts on demand. Every page works without this file; nothing here writes HTML.
"use strict";
(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const one = (selector) => document.querySelector(selector);
  const MARKS = "tracegrade marked";

  const say = (text) => {
    one("#said").textContent = text;
    setTimeout(() => { if (one("#said").textContent === text) one("#said").textContent = ""; }, 4000);
  };

  const rows = () => all("[data-row]").filter((row) => row.checkVisibility());
  const here = () => document.activeElement.closest("[data-row]");

  const show = (element) => {
    for (let above = element.parentElement; above; above = above.parentElement) {
      if (above.tagName === "DETAILS") above.open = true;
    }
    element.focus({ preventScroll: true });
    element.scrollIntoView({ block: "center" });
    if (element.id) history.replaceState(null, "", "#" + element.id);
  };

  // The next of some elements, from the focus on, round the end.
  const move = (found, by, go = show) => {
    if (!found.length) return;
    const from = here() ?? one(":target");
    const after = (a, b) => a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING;
    const rest = from ? found.filter((each) => each !== from &&
      (by > 0 ? after(from, each) : after(each, from))) : found;
    go(by > 0 ? rest[0] ?? found[0] : rest.at(-1) ?? found.at(-1));
  };

  const step = (by) => {
    const found = rows();
    const at = found.indexOf(here() ?? one(":target"));
    const next = at < 0 ? (by > 0 ? 0 : found.length - 1) : at + by;
    if (found[next]) show(found[next]);
  };

  const jump = (by) => {
    const part = (row) => row.closest("tbody, ol, ul");
    const found = rows();
    move(found.filter((row, at) => !at || part(row) !== part(found[at - 1])), by);
  };

  const follow = (selector) => one(selector)?.click();
  const click = (selector) => () => follow(selector);
  const unfold = (row) => (row.querySelector(":scope>details")?.setAttribute("open", ""), row);
  const among = (what, by) => () => move(all(`[data-${what}]`), by, what === "finding" ? (it) => show(unfold(it)) : show);

  const nextAgent = () => {
    const found = all("[data-agent]");
    found[(found.findIndex((each) => each.ariaCurrent) + 1) % found.length]?.click();
  };

  const copy = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      say("link copied");
    } catch {
      say("the browser lets no page copy here; use the address bar");
    }
  };

  // Marked runs stay from page to page.
  const marked = () => JSON.parse(sessionStorage.getItem(MARKS) ?? "[]");
  const keep = (ids) => sessionStorage.setItem(MARKS, JSON.stringify(ids.slice(-2)));
  const noteMark = (box) => {
    const rest = marked().filter((id) => id !== box.value);
    keep(box.checked ? [...rest, box.value] : rest);
    paintMarks();
  };
  const paintMarks = () => {
    const ids = marked();
    for (const box of all("[data-mark]")) box.checked = ids.includes(box.value);
    return ids;
  };
  const mark = () => {
    const box = here()?.querySelector("[data-mark]");
    if (!box) return;
    box.checked = !box.checked;
    noteMark(box);
    say(`${marked().length} marked`);
  };
  const compare = () => {
    const [a, b] = marked();
    if (one("[data-compare]")) follow("[data-compare]");
    else if (b) location.assign("/compare?" + new URLSearchParams({ a, b }));
    else say("mark two runs first, with x");
  };

  const fold = () => {
    const place = here();
    const found = place?.querySelector("details") ?? place?.closest("details");
    if (!found) return;
    found.open = !found.open;
    if (!found.open) found.closest("[data-row]")?.focus();
  };

  const open = () => {
    const link = here()?.querySelector("[data-open]");
    link ? location.assign(link.href) : fold();
  };

  const make = (tag, given) => Object.assign(document.createElement(tag), given);
  const bubble = ({ role, text }) => {
    const made = make("div", { className: role === "user" ? "bubble by-person" : "bubble" });
    made.append(make("b", { textContent: role }), make("div", { className: "text", textContent: text }));
    return made;
  };
  const fetchText = async (link) => {
    const data = link.dataset.fetch, answer = await fetch(data || link.href);
    if (!answer.ok) { location.assign(link.href); return; }
    const { messages = [], text } = data ? await answer.json() : { text: await answer.text() };
    link.parentElement.querySelector(".text").replaceChildren(...messages.length ? messages.map(bubble) : [text]);
    link.closest("[data-row]")?.focus({ preventScroll: true });
    link.remove();
  };

  const closeMore = () => one(".more")?.removeAttribute("open");
  const help = () => one("#keys")?.[one("#keys").open ? "close" : "showModal"]();

  const find = () => {
    const field = one("main [data-find]") ?? one("[data-find]");
    if (!field) return;
    field.closest("details")?.setAttribute("open", "");
    field.focus();
    field.select();
  };

  const fetchChoices = (url) => fetch(url).then((answer) => answer.ok ? answer.json() : { choices: [] });
  const filterChoices = (field, typed) => {
    const query = new URLSearchParams(new FormData(field.form));
    query.set("typed", typed);
    return fetchChoices("/completions.json?" + query);
  };
  let names;
  const nameChoices = async (field, typed) => {
    const [word] = typed.match(/\w*$/), begun = word.toLowerCase();
    const begins = ({ text, href }) => text.toLowerCase().startsWith(begun) &&
      (href ? field.value.trim() === word : text !== word);
    const { choices } = await (names ??= fetchChoices("/sql-names.json"));
    return { from: typed.length - word.length, choices: word ? choices.filter(begins).slice(0, 12) : [] };
  };

  // Offers what can be typed next, which the server knows.
  const complete = (field) => {
    const list = one("#" + field.getAttribute("aria-controls"));
    const isFilter = field.tagName === "INPUT", choicesOf = isFilter ? filterChoices : nameChoices;
    let from = 0, chosen = -1, turn = 0;
    const setOpen = (is) => {
      list.hidden = !is;
      if (isFilter) field.setAttribute("aria-expanded", is);
    };
    const close = () => {
      turn += 1;
      chosen = -1;
      setOpen(false);
      field.removeAttribute("aria-activedescendant");
    };
    const option = (choice, place) => {
      const item = make("li", { id: `${list.id}-${place}`, role: "option", ariaSelected: "false" });
      item.append(...[choice.text, choice.hint].map((textContent) => make("span", { textContent })));
      Object.assign(item.dataset, choice);
      return item;
    };
    const offer = async () => {
      close();
      const mine = turn;
      const found = await choicesOf(field, field.value.slice(0, field.selectionStart));
      if (mine !== turn || !found.choices.length) return;
      from = found.from;
      list.replaceChildren(...found.choices.map(option));
      setOpen(true);
    };
    const choose = (place) => {
      const options = [...list.children];
      chosen = (place + options.length) % options.length;
      options.forEach((each, at) => { each.ariaSelected = String(at === chosen); });
      field.setAttribute("aria-activedescendant", options[chosen].id);
      options[chosen].scrollIntoView({ block: "nearest" });
    };
    const take = (item) => {
      if (item.dataset.href) { location.assign(item.dataset.href); return; }
      const rest = field.value.slice(field.selectionStart), gap = rest.length - rest.trimStart().length;
      field.setSelectionRange(from, field.selectionStart + (isFilter ? gap : 0));
      document.execCommand("insertText", false, item.dataset.text);
    };
    const down = { ArrowDown: 1, ArrowUp: -1 };
    field.addEventListener("keydown", (event) => {
      const by = down[event.key];
      if (by && list.hidden && isFilter) offer();
      else if (by && !list.hidden) choose(chosen < 0 && by < 0 ? -1 : chosen + by);
      else if (["Enter", "Tab"].includes(event.key) && chosen >= 0) take(list.children[chosen]);
      else if (event.key === "Escape" && !list.hidden) { event.stopPropagation(); close(); return; }
      else return;
      event.preventDefault();
    });
    field.addEventListener("input", offer);
    field.addEventListener("blur", close);
    list.addEventListener("mousedown", (event) => {
      event.preventDefault();
      take(event.target.closest("li"));
    });
  };

  // A person's verdict.
  const verdictForm = one("[data-label]");
  const choose = (verdict) => {
    verdictForm.querySelector(`[value=${verdict}]`).checked = true;
    say(verdict);
  };
  const stepHere = () => {
    const row = here() ?? one(":target"), name = row?.dataset.step ?? row?.id;
    if (/^s\d+$/.test(name)) { one("#label-step").value = name; say(`${name} failed`); }
    else say("go to the step first, with j and k");
  };
  const LABEL_KEYS = verdictForm ? {
    1: () => choose("good"), 0: () => choose("bad"), u: () => choose("unsure"), f: stepHere,
    m: () => one("#label-note").focus(), n: () => verdictForm.requestSubmit(),
    z: click("[data-undo]"),
  } : {};

  const PLACES = { n: "/", r: "/runs", c: "/conversations", e: "/releases", i: "/issues", a: "/alerts", t: "/tasks", m: "/money", d: "/trends", f: "/search", s: "/sql" };
  const KEYS = {
    j: () => step(1), k: () => step(-1), J: () => jump(1), K: () => jump(-1), Enter: open,
    e: among("finding", 1), E: among("finding", -1), n: among("difference", 1), N: among("difference", -1),
    "[": click("a[rel=prev]"), "]": click("a[rel=next]"), a: nextAgent, x: mark, c: compare, o: fold, "/": find, y: copy, "?": help,
    s: click("[data-other-view]"), i: () => one("#q")?.focus(), d: click("[data-csv]"),
    p: () => one("#plan") && show(one("#plan")), t: click("[data-twin]"), l: () => follow(one("main [data-queue]") ? "main [data-queue]" : "[data-queue]"), ...LABEL_KEYS,
  };
  let going = false;
  document.addEventListener("keydown", (event) => {
    const isControl = event.ctrlKey || event.metaKey, enters = event.key === "Enter";
    if (isControl && enters) event.target.closest("textarea")?.form.requestSubmit();
    if (isControl || event.altKey) return;
    if (enters && event.target.matches("#save-as")) { event.preventDefault(); follow("#save-as + button"); }
    if (event.key === "Escape") closeMore();
    const field = event.target.closest("input:not([type=checkbox], [type=radio]), select, textarea");
    if (field && event.key === "Escape") field.blur();
    if (field || (one("#keys")?.open && event.key !== "?")) return;
    const place = going && PLACES[event.key], went = going;
    going = !went && event.key === "g";
    if (place) location.assign(place);
    if (went || going) return;
    if (enters && event.target.closest("a, button, summary, input")) return;
    const act = KEYS[event.key] ?? (/^[1-9]$/.test(event.key) && (() => follow(`[data-key="${event.key}"]`)));
    if (!act) return;
    event.preventDefault();
    act();
  });

  const ACTS = { help, copy, close: help, "next-finding": KEYS.e, "next-difference": KEYS.n };
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".more")) closeMore();
    const button = event.target.closest("[data-act]");
    if (button) ACTS[button.dataset.act]();
    const name = one("#q") && event.target.closest(".tree code");
    if (name) { event.preventDefault(); one("#q").focus(); document.execCommand("insertText", false, name.textContent); }
    const link = event.target.closest("[data-fetch]");
    if (link && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      fetchText(link);
    }
  });
  document.addEventListener("change", ({ target }) => { if (target.matches("[data-mark]")) noteMark(target); });
  one("#marked")?.addEventListener("submit", (event) => { event.preventDefault(); compare(); });

  // News; nothing moves until the reader asks.
  const news = one("[data-news]");
  const poll = async () => {
    const answer = document.hidden ? null : await fetch(news.dataset.news).catch(() => null);
    if (!answer?.ok) return;
    const { news: text } = await answer.json();
    news.textContent = text && `${text} – show`;
    news.hidden = !text;
  };
  if (news) setInterval(poll, 4_000);

  document.cookie = `tz=${encodeURIComponent(Intl.DateTimeFormat().resolvedOptions().timeZone)}; path=/; SameSite=Strict`;

  // The query of a form leaves the address.
  if (one("[data-address]")) history.replaceState(null, "", one("[data-address]").href);
  for (const field of all("[data-completed]")) complete(field);
  for (const button of all("[data-act][hidden]")) button.hidden = false;
  paintMarks();
  if (matchMedia("(max-width: 60rem)").matches) one("details.facets")?.removeAttribute("open");
  for (const link of all("header.site nav a:not(.brand)")) {
    if (link.pathname === "/" ? location.pathname === "/" : location.pathname.startsWith(link.pathname)) link.ariaCurrent = "page";
  }
  // Steps are laid out late; an anchor is right only then.
  addEventListener("load", () => {
    const row = one(":target");
    if (!row?.matches("[data-row]")) return;
    unfold(row);
    requestAnimationFrame(() => show(row));
  });
})();
