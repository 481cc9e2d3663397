import { expect, it } from "vitest";
import { STATUS_WORD } from "../state/projects/words";
import { ICONS, squareIcon } from "../ui/icons";

it("no session has the icon of an activity", () => {
  const activities = (["active", "blocked", "completed", "abandoned"] as const).map((one) => ICONS[one]);
  expect(Object.keys(STATUS_WORD)).toHaveLength(activities.length);
  for (const tone of ["starting", "active", "waiting", "idle", "completed", "failed", "offline"] as const)
    expect(activities, tone).not.toContain(ICONS[squareIcon(tone)]);
});
