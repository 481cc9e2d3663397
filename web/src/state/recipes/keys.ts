/** A key that may be written at a place of a recipe. */
export type Key = { name: string; about: string };

type Schema = Record<string, unknown>;

/** The keys that the schema knows at a place of a YAML text, without those that are written there already. */
export function keysAt(schema: Schema, text: string, position: number): Key[] {
  const before = text.slice(0, position).split("\n");
  const current = before.pop() ?? "";
  const outer = pathAt(before, current);
  const found = new Map<string, Key>();
  for (const one of reach(schema, outer))
    for (const [name, about] of Object.entries(object(one.properties) as Record<string, Schema>))
      if (!found.has(name)) found.set(name, { name, about: describe(schema, about) });
  const written = isItem(current) ? new Set<string>() : siblings(before, indentOf(current));
  return [...found.values()].filter((one) => !written.has(one.name));
}

// The keys that enclose a line, outermost first; a list item is `[]`.
function pathAt(before: readonly string[], current: string): string[] {
  const path: string[] = [];
  let indent = indentOf(current);
  if (isItem(current)) {
    path.unshift("[]");
    indent -= 2;
  }
  for (let at = before.length - 1; at >= 0; at--) {
    const line = before[at] ?? "";
    if (!line.trim() || line.trimStart().startsWith("#")) continue;
    const dash = /^(\s*)- /u.exec(line);
    const key = /^[\s-]*([\w-]+):/u.exec(line)?.[1];
    const column = indentOf(line);
    if (key && (column < indent || (column === indent && path[0] === "[]" && !dash))) {
      path.unshift(key);
      indent = column;
    }
    // A list item that holds what was found before.
    if (dash && (dash[1]?.length ?? 0) < indent && column <= indent) {
      path.unshift("[]");
      indent = dash[1]?.length ?? 0;
    }
    if (indent <= 0 && path[0] !== "[]") break;
  }
  return path;
}

// The column of the key of a line, after the mark of a list item.
function indentOf(line: string): number {
  return /^\s*(?:- )?/u.exec(line)?.[0].length ?? 0;
}

function isItem(line: string): boolean {
  return /^\s*- /u.test(line);
}

function siblings(before: readonly string[], indent: number): Set<string> {
  const found = new Set<string>();
  for (const line of before.toReversed()) {
    if (!line.trim()) continue;
    if (indentOf(line) < indent) break;
    const key = indentOf(line) === indent ? /^[\s-]*([\w-]+):/u.exec(line)?.[1] : undefined;
    if (key) found.add(key);
    if (isItem(line) && indentOf(line) === indent) break;
  }
  return found;
}

function reach(root: Schema, path: readonly string[]): Schema[] {
  let now = variants(root, root);
  for (const key of path)
    now = now.flatMap((one) => {
      const next = key === "[]" ? one.items : (object(one.properties)[key] ?? one.additionalProperties);
      return typeof next === "object" && next !== null ? variants(root, next as Schema) : [];
    });
  return now;
}

// A schema with everything that it refers to or combines.
function variants(root: Schema, schema: Schema, depth = 0): Schema[] {
  if (depth > 8) return [];
  const found = [schema];
  if (typeof schema.$ref === "string") {
    const target = schema.$ref
      .replace(/^#\//u, "")
      .split("/")
      .reduce<unknown>((at, part) => object(at)[part], root);
    found.push(...variants(root, object(target), depth + 1));
  }
  for (const word of ["oneOf", "anyOf", "allOf"])
    if (Array.isArray(schema[word]))
      for (const one of schema[word]) found.push(...variants(root, object(one), depth + 1));
  return found;
}

function describe(root: Schema, schema: Schema): string {
  const found = variants(root, schema).find((one) => typeof one.description === "string");
  return typeof found?.description === "string" ? found.description : "";
}

function object(value: unknown): Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Schema) : {};
}
