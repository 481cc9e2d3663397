// The emulator writes its colours as <style> elements and style attributes, which the content security policy drops.
// Style sheets made by script and properties set by script are allowed: they get the same text another way.

const sheets = new WeakMap<HTMLStyleElement, CSSStyleSheet>();

function sheetFor(element: HTMLStyleElement): HTMLStyleElement {
  const sheet = new CSSStyleSheet();
  sheets.set(element, sheet);
  Object.defineProperty(element, "textContent", {
    get: () => "",
    set: (text: string) => {
      sheet.replaceSync(text);
      if (!document.adoptedStyleSheets.includes(sheet)) document.adoptedStyleSheets.push(sheet);
    },
  });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet);
    HTMLElement.prototype.remove.call(element);
  };
  return element;
}

function setAttribute(this: HTMLElement, name: string, value: string): void {
  if (name === "style") this.style.cssText = value;
  else HTMLElement.prototype.setAttribute.call(this, name, value);
}

const create = document.createElement.bind(document);

function createElement(name: string, options?: ElementCreationOptions): HTMLElement {
  const element = create(name, options);
  if (element instanceof HTMLStyleElement) return sheetFor(element);
  if (element instanceof HTMLSpanElement) element.setAttribute = setAttribute;
  return element;
}

/** The document as the emulator may use it. */
export const quietDocument: Document = new Proxy(document, {
  get(target, name) {
    if (name === "createElement") return createElement;
    const value: unknown = Reflect.get(target, name, target);
    return typeof value === "function" ? (value as (...rest: unknown[]) => unknown).bind(target) : value;
  },
});

/** Runs what makes elements with the real document although it was given another one. */
export function withQuietDocument(work: () => void): void {
  document.createElement = createElement as typeof document.createElement;
  try {
    work();
  } finally {
    Reflect.deleteProperty(document, "createElement");
  }
}
