/** A field of a form that a JSON Schema describes. */
export type Field = {
  name: string;
  hint: string;
  required: boolean;
  kind: "text" | "number" | "switch" | "choice" | "json";
  choices: unknown[];
  /** Whether the number has no fraction. */
  whole: boolean;
  schema: Schema;
};

type Schema = Record<string, unknown>;

/** What a person has typed, by field. */
export type Typed = Record<string, string>;

/** The field of a value with this schema. */
export function fieldOf(name: string, schema: Schema, required: boolean, hint = ""): Field {
  const choices = Array.isArray(schema.enum) ? schema.enum : [];
  const type = typeof schema.type === "string" ? schema.type : "";
  return {
    name,
    hint: hint || (typeof schema.description === "string" ? schema.description : ""),
    required,
    kind: choices.length > 0 ? "choice" : kindOf(type),
    choices,
    whole: type === "integer",
    schema,
  };
}

function kindOf(type: string): Field["kind"] {
  if (type === "string") return "text";
  if (type === "integer" || type === "number") return "number";
  return type === "boolean" ? "switch" : "json";
}

/** The fields of an object; null: the schema is not a plain object, so its JSON is asked for. */
export function fieldsOf(schema: Schema): Field[] | null {
  const properties = schema.properties;
  if (typeof properties !== "object" || properties === null) return null;
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(properties).map(([name, one]) =>
    fieldOf(name, (one ?? {}) as Schema, required.includes(name)),
  );
}

/** A value as the text of its field. */
export function typedOf(field: Field, value: unknown): string {
  if (value === undefined || value === null) return field.kind === "switch" ? "false" : "";
  if (field.kind === "choice") return String(field.choices.findIndex((one) => same(one, value)));
  if (field.kind === "json") return JSON.stringify(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The values of a form, or what is wrong with a field. Empty optional fields are left out. */
export function valuesOf(
  fields: readonly Field[],
  typed: Typed,
): { values: Record<string, unknown>; errors: Record<string, string> } {
  const values: Record<string, unknown> = {};
  const errors: Record<string, string> = {};
  for (const field of fields) {
    const text = typed[field.name] ?? "";
    if (text.trim() === "") {
      if (field.required) errors[field.name] = "A value is needed.";
      continue;
    }
    const read = valueOf(field, text);
    if ("error" in read) errors[field.name] = read.error;
    else values[field.name] = read.value;
  }
  return { values, errors };
}

function valueOf(field: Field, text: string): { value: unknown } | { error: string } {
  switch (field.kind) {
    case "text":
      return { value: text };
    case "switch":
      return { value: text === "true" };
    case "choice":
      return { value: field.choices[Number(text)] };
    case "number": {
      const value = Number(text);
      if (!Number.isFinite(value)) return { error: "Write a number." };
      return field.whole && !Number.isInteger(value) ? { error: "Write a whole number." } : { value };
    }
    default:
      return readJson(text, field);
  }
}

function readJson(text: string, field: Field): { value: unknown } | { error: string } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    // A list of words may be written as the command line takes it.
    if (field.schema.type === "array" && !/^\s*[[{]/u.test(text))
      return { value: text.split(",").map((one) => one.trim()) };
    return { error: 'Write JSON, such as ["make", "test"] or {"a": 1}.' };
  }
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
