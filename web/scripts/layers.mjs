// Which part of the page may import which: imports point up this list and never from one feature to another.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

export const LAYERS = ["lib", "protocol", "link", "state", "ui", "features", "app"];

/** Layers that know nothing of the product, with everything that they may import. */
const GENERIC = { lib: ["lib"], ui: ["lib", "ui"] };

/** The folder of features from which every feature may import. */
const SHARED = "shared";

/** Every source file under a folder. */
export function sources(root) {
  return readdirSync(root).flatMap((name) => {
    const path = join(root, name);
    if (statSync(path).isDirectory()) return sources(path);
    return /\.(ts|svelte)$/.test(name) ? [path] : [];
  });
}

/** What a file imports from this page, as paths from the root of the sources. */
export function importsOf(root, path, text = readFileSync(path, "utf8")) {
  const found = [...text.matchAll(/(?:from\s*|import\s*\(?\s*)["'](\.[^"']*)["']/g)];
  return found.map(([, target]) => relative(root, resolve(dirname(path), target)));
}

/** Why an import is wrong, or null. */
export function wrongImport(file, target) {
  const [layer, feature] = file.split("/");
  const [targetLayer, targetFeature] = target.split("/");
  const from = LAYERS.indexOf(layer);
  const to = LAYERS.indexOf(targetLayer);
  // Files beside the layers, such as main.ts, put everything together.
  if (from < 0 || targetLayer.includes(".")) return null;
  if (to < 0) return `${file} imports ${target}, which is in no layer`;
  if (to > from) return `${file} imports ${target}: ${layer} is below ${targetLayer}`;
  if (GENERIC[layer] && !GENERIC[layer].includes(targetLayer)) {
    return `${file} imports ${target}: ${layer} knows nothing of the product`;
  }
  if (layer === "features" && targetLayer === "features" && ![feature, SHARED].includes(targetFeature)) {
    return `${file} imports ${target}: features do not know each other`;
  }
  return null;
}

/** Every wrong import under a folder. */
export function wrongImports(root) {
  return sources(root).flatMap((path) => {
    const file = relative(root, path);
    return importsOf(root, path).flatMap((target) => wrongImport(file, target) ?? []);
  });
}

/** The same as an ESLint rule, so that an editor underlines a wrong import. */
export const layersRule = {
  meta: { type: "problem", schema: [] },
  create(context) {
    const root = join(import.meta.dirname, "../src");
    const check = (node) => {
      const target = node.source?.value;
      if (typeof target !== "string" || !target.startsWith(".")) return;
      const file = relative(root, context.filename);
      const wrong = wrongImport(file, relative(root, resolve(dirname(context.filename), target)));
      if (wrong) context.report({ node, message: wrong });
    };
    return {
      ImportDeclaration: check,
      ExportAllDeclaration: check,
      ExportNamedDeclaration: check,
      ImportExpression: check,
    };
  },
};
