import type { IconName } from "../../ui/icons";

/** A place or verb that the palette finds. */
export type Command = {
  id: string;
  icon: IconName;
  title: string;
  /** Where it belongs, or what it is. */
  detail: string;
  run: () => void;
};
