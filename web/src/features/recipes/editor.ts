import { autocompletion, type CompletionContext, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, linter, lintGutter } from "@codemirror/lint";
import { EditorState, type Text } from "@codemirror/state";
import { drawSelection, EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { RecipeFinding, RecipeFormat } from "../../protocol";
import { keysAt } from "../../state/recipes/keys";

/** How long the text must rest before it is checked, in milliseconds. */
const REST = 300;

type Options = {
  text: string;
  format: RecipeFormat;
  /** The JSON Schema of recipes, for completion. */
  schema: Record<string, unknown> | null;
  onchange: (text: string) => void;
  onsave: () => void;
  check: (text: string) => Promise<readonly RecipeFinding[]>;
};

/** A text editor with findings and completion. */
export class Editor {
  readonly #view: EditorView;

  constructor(parent: HTMLElement, { text, format, schema, onchange, onsave, check }: Options) {
    // In a shadow root, the styles of the editor are a constructed sheet, which the content security policy allows.
    const root = parent.attachShadow({ mode: "open" });
    const save = { key: "Mod-s", preventDefault: true, run: () => (onsave(), true) };
    this.#view = new EditorView({
      parent: root,
      root,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          indentUnit.of("  "),
          EditorState.tabSize.of(2),
          EditorView.lineWrapping,
          format === "yaml" ? yaml() : [],
          syntaxHighlighting(COLOURS),
          THEME,
          lintGutter(),
          linter(
            async (view) => (await check(view.state.doc.toString())).map((one) => shown(view.state.doc, one)),
            {
              delay: REST,
            },
          ),
          autocompletion({ override: [(context) => complete(context, schema)] }),
          keymap.of([save, ...completionKeymap, ...historyKeymap, indentWithTab, ...defaultKeymap]),
          EditorView.contentAttributes.of({ "aria-label": "Text of the recipe", spellcheck: "false" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) onchange(update.state.doc.toString());
          }),
        ],
      }),
    });
  }

  /** Moves the cursor to a line and column, counted from 1. */
  goTo(line: number, column: number): void {
    const at = placeOf(this.#view.state.doc, line, column);
    this.#view.dispatch({ selection: { anchor: at }, scrollIntoView: true });
    this.#view.focus();
  }

  /** Removes the editor. */
  destroy(): void {
    this.#view.destroy();
  }
}

function shown(doc: Text, { line, column, message, instead, warning }: RecipeFinding): Diagnostic {
  const from = placeOf(doc, line, column);
  const end = doc.lineAt(from).to;
  return {
    from,
    to: Math.max(from, end),
    severity: warning ? "warning" : "error",
    message: instead ? `${message}\nWrite instead: ${instead}` : message,
  };
}

// Columns count characters, the editor counts UTF-16 units.
function placeOf(doc: Text, line: number, column: number): number {
  const found = doc.line(Math.min(Math.max(1, line), doc.lines));
  const before = [...found.text].slice(0, Math.max(0, column - 1)).join("").length;
  return found.from + before;
}

function complete(context: CompletionContext, schema: Record<string, unknown> | null) {
  const word = context.matchBefore(/[\w-]*/u);
  if (!schema || !word || (word.from === word.to && !context.explicit)) return null;
  const line = context.state.doc.lineAt(context.pos);
  // Only keys: at the start of a line or a list item.
  if (!/^\s*(?:- )?[\w-]*$/u.test(line.text.slice(0, context.pos - line.from))) return null;
  // Not as `info`, whose panel would need an inline style, which the content security policy drops.
  const options = keysAt(schema, context.state.doc.toString(), context.pos).map(({ name, about }) => ({
    label: name,
    type: "property",
    apply: `${name}: `,
    detail: about.length > 60 ? `${about.slice(0, 60)}…` : about,
  }));
  return options.length > 0 ? { from: word.from, options } : null;
}

const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: tags.comment, color: "var(--text-faint)", fontStyle: "italic" },
  { tag: [tags.string, tags.content], color: "var(--text)" },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: "var(--completed)" },
  { tag: tags.punctuation, color: "var(--text-muted)" },
]);

const THEME = EditorView.theme({
  "&": { color: "var(--text)", fontSize: "12.5px", minHeight: "320px", maxHeight: "68vh" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55", overflow: "auto" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--bg-code)", color: "var(--text-faint)", border: "none" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--bg-selected)",
  },
  ".cm-tooltip": {
    backgroundColor: "var(--bg-raised)",
    color: "var(--text)",
    border: "1px solid var(--line-strong)",
    borderRadius: "6px",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    backgroundColor: "var(--accent-fill)",
    color: "var(--accent-on)",
  },
  ".cm-diagnostic": { whiteSpace: "pre-wrap", fontFamily: "var(--font)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--failed)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--waiting)" },
});
