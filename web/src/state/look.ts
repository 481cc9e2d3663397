/** A state's colour and icon, its word, and what is true in it. */
export type Look<T extends string> = { tone: T; word: string; meaning: string };
