import type { IconName } from "../../ui/icons";

/** A page or command in the palette. */
export type Command = {
  id: string;
  icon: IconName;
  title: string;
  /** Its context or kind. */
  detail: string;
  run: () => void;
};
