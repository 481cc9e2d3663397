/** A worker's accent colour and the background of its terminal. */
export type Colours = { accent: string; ground: string };

// The first four are from the design; the others rotate the hue at similar lightness and chroma.
const COLOURS: readonly Colours[] = [
  { accent: "#6366f1", ground: "#0d0d14" },
  { accent: "#10b981", ground: "#0a0f0d" },
  { accent: "#f59e0b", ground: "#0f0e0a" },
  { accent: "#f43f5e", ground: "#0f0a0c" },
  { accent: "#b474f4", ground: "#0e0c10" },
  { accent: "#09acba", ground: "#090e0f" },
  { accent: "#72ad0c", ground: "#0c0e0a" },
  { accent: "#f3680f", ground: "#110c0a" },
  { accent: "#dc63c6", ground: "#100c0f" },
  { accent: "#16a4e2", ground: "#0a0e11" },
  { accent: "#a69c13", ground: "#0e0e09" },
  { accent: "#16b09b", ground: "#090f0d" },
];

const FIRST: Colours = { accent: "#6366f1", ground: "#0d0d14" };

/** The colours of a worker, by its number; the same for everyone. */
export function colourOf(place: number): Colours {
  return COLOURS[place % COLOURS.length] ?? FIRST;
}

/** The colours of a session without a worker; the same for everyone. */
export function coloursOf(session: string): Colours {
  let hash = 0x811c9dc5;
  for (let at = 0; at < session.length; at++)
    hash = Math.imul(hash ^ session.charCodeAt(at), 0x01000193) >>> 0;
  return colourOf((hash ^ (hash >>> 13)) >>> 0);
}
