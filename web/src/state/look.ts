/** How a state is shown: colour and icon, label, and explanation. */
export type Look<T extends string> = { tone: T; word: string; meaning: string };
