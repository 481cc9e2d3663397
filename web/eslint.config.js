import js from "@eslint/js";
import svelte from "eslint-plugin-svelte";
import globals from "globals";
import ts from "typescript-eslint";
import { layersRule } from "./scripts/layers.mjs";

export default ts.config(
  { ignores: ["dist", "src/protocol", "test-results", "shots"] },
  js.configs.recommended,
  ...ts.configs.strict,
  ...svelte.configs.recommended,
  {
    languageOptions: { globals: { ...globals.browser, ...globals.node } },
    rules: {
      "svelte/no-at-html-tags": "error",

      // Our own links are handled by one click listener; there is no SvelteKit here.
      "svelte/no-navigation-without-resolve": "off",
      "no-restricted-properties": [
        "error",
        { property: "innerHTML", message: "Text is data: render it as components." },
        { property: "outerHTML", message: "Text is data: render it as components." },
        { property: "insertAdjacentHTML", message: "Text is data: render it as components." },
      ],
    },
  },
  {
    files: ["src/**"],
    plugins: { layers: { rules: { imports: layersRule } } },
    rules: { "layers/imports": "error" },
  },
  {
    files: ["**/*.svelte", "**/*.svelte.ts"],
    languageOptions: { parserOptions: { parser: ts.parser } },
  },
);
