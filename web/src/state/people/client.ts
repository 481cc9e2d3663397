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

/** A readable name for a user agent, such as `Firefox on Linux`. */
export function clientName(text: string): string {
  const start = text.indexOf("Mozilla/");
  if (start < 0) return text;
  const browser = BROWSERS.find(([pattern]) => pattern.test(text))?.[1] ?? "a browser";
  const system = SYSTEMS.find(([pattern]) => pattern.test(text))?.[1];
  return text.slice(0, start) + (system ? `${browser} on ${system}` : browser);
}
