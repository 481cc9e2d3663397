import type { Terminal } from "@xterm/xterm";

// The emulator writes its colours as <style> elements and style attributes, which the content security policy drops.
// Style sheets and properties set by script are allowed: use these instead.

// The policy rejects even an empty <style>, so an invisible element replaces it.
function sheetElement(element: HTMLElement): HTMLElement {
  const sheet = new CSSStyleSheet();
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

/** Opens a terminal, or changes its renderer, with style sheets instead of style elements. */
export function withSheets(terminal: Terminal, work: () => void): void {
  const create = document.createElement.bind(document);
  const instead = (name: string, options?: ElementCreationOptions) =>
    name === "style" ? sheetElement(create("template")) : create(name, options);
  document.createElement = instead as typeof document.createElement;
  try {
    work();
  } finally {
    Reflect.deleteProperty(document, "createElement");
  }
  colourByProperty(terminal);
}

type RowFactory = { _addStyle: (element: HTMLElement, style: string) => void };
type Inside = { _core: { _renderService?: { _renderer: { value?: { _rowFactory?: RowFactory } } } } };

// True colours are style attributes of each cell. The emulator's version is pinned, and a browser test detects policy
// violations.
function colourByProperty(terminal: Terminal): void {
  const factory = (terminal as unknown as Inside)._core._renderService?._renderer.value?._rowFactory;
  if (!factory) return;
  factory._addStyle = (element, style) => {
    element.style.cssText += style;
  };
}
