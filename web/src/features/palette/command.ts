import type { SearchKind } from "../../protocol";
import type { IconName } from "../../ui/icons";

/** The kind of a thing that the palette opens. */
export type ThingKind = SearchKind | "worker" | "execution" | "request";

/** A page, a command or a thing in the palette. */
export type Command = {
  id: string;
  icon: IconName;
  title: string;
  /** Its context or kind. */
  detail: string;
  /** The kind of a thing; absent for pages and commands. */
  kind?: ThingKind;
  run: () => void;
};
