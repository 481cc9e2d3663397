import type { SearchKind } from "../../protocol";
import type { IconName } from "../../ui/icons";

/** The icon of each kind of thing. */
export const ICONS: Record<SearchKind, IconName> = {
  project: "folder",
  activity: "active",
  task: "board",
  message: "chat",
  session: "terminal",
  recording: "film",
};
