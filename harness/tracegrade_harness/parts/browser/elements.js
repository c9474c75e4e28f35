// Tells what elements of a page selectors find. Runs in a world of its own, in which scripts of the
// page have changed nothing; getters are taken from prototypes, since elements can hide properties.
(selectors) => {
  const MOST = 10_000;
  const MOST_CHARS = 1_000_000;
  const getter = (of, name) => Object.getOwnPropertyDescriptor(of.prototype, name).get;
  const cut = (text) => (text.length > MOST_CHARS ? text.slice(0, MOST_CHARS) + "…" : text);
  const textOf = (element) =>
    element instanceof HTMLElement
      ? getter(HTMLElement, "innerText").call(element) // without scripts, and what is not shown
      : getter(Node, "textContent").call(element);
  const htmlOf = getter(Element, "outerHTML");
  const attributesOf = getter(Element, "attributes");
  const found = (root, selector, of) => [...of.prototype.querySelectorAll.call(root, selector)];
  const valueOf = (element) => {
    if (element instanceof HTMLInputElement) {
      const kind = getter(HTMLInputElement, "type").call(element);
      if (kind === "checkbox" || kind === "radio") {
        const value = getter(HTMLInputElement, "value").call(element);
        return getter(HTMLInputElement, "checked").call(element) ? value : null;
      }
      return cut(getter(HTMLInputElement, "value").call(element));
    }
    for (const kind of [HTMLTextAreaElement, HTMLSelectElement])
      if (element instanceof kind) return cut(getter(kind, "value").call(element));
    return null;
  };
  const told = (element) => ({
    text: cut(textOf(element)).replace(/\s+/g, " ").trim(),
    value: valueOf(element),
    attributes: Object.fromEntries(
      [...attributesOf.call(element)].map((each) => [each.name, cut(each.value)]),
    ),
    visible: Element.prototype.checkVisibility.call(element, { visibilityProperty: true }),
    html: cut(htmlOf.call(element)),
    values: found(element, "input, select, textarea", Element).slice(0, MOST).map(valueOf),
  });
  return selectors.map((selector) => {
    try {
      return found(document, selector, Document).slice(0, MOST).map(told);
    } catch (error) {
      if (error instanceof DOMException) return null;
      throw error;
    }
  });
}
