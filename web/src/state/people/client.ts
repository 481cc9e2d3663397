const BROWSERS: [RegExp, string][] = [
  [/Edg\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox\//, "Firefox"],
  [/(Headless)?Chrome\//, "Chromium"],
  [/Safari\//, "Safari"],
];

const SYSTEMS: [RegExp, string][] = [
  [/Android/, "Android"],
  [/iPhone|iPad/, "iOS"],
  [/Windows/, "Windows"],
  [/Mac OS X/, "macOS"],
  [/Linux|X11/, "Linux"],
];

/** A client as people call it: `Firefox on Linux` instead of what browsers say of themselves. */
export function clientName(text: string): string {
  const start = text.indexOf("Mozilla/");
  if (start < 0) return text;
  const browser = BROWSERS.find(([pattern]) => pattern.test(text))?.[1] ?? "a browser";
  const system = SYSTEMS.find(([pattern]) => pattern.test(text))?.[1];
  return text.slice(0, start) + (system ? `${browser} on ${system}` : browser);
}
