import type { Schedule } from "../../protocol";

/** A time at which a schedule is due. */
export type Firing = { schedule: Schedule; at: string };

/** A day of the calendar strip. */
export type Day = { at: number; firings: Firing[] };

const DAYS = 7;

/** The next seven days with their firings, earliest first. */
export function daysOf(schedules: readonly Schedule[], now: number): Day[] {
  const first = new Date(now);
  first.setHours(0, 0, 0, 0);
  const days = Array.from({ length: DAYS }, (_, at): Day => {
    const day = new Date(first);
    day.setDate(day.getDate() + at);
    return { at: day.getTime(), firings: [] };
  });
  for (const schedule of schedules.filter((one) => !one.paused))
    for (const at of schedule.next) {
      const moment = Date.parse(at);
      if (moment >= now)
        days.findLast((one) => one.at <= moment && moment < endOf(one))?.firings.push({ schedule, at });
    }
  for (const day of days) day.firings.sort((a, b) => (a.at < b.at ? -1 : 1));
  return days;
}

function endOf(day: Day): number {
  const end = new Date(day.at);
  return end.setDate(end.getDate() + 1);
}

/** A number of seconds as people write it: `90s`, `15m`, `2h`, `1d`. */
export function secondsOf(text: string): number | null {
  const found = /^\s*(\d+)\s*(s|m|h|d)?\s*$/u.exec(text);
  if (!found) return null;
  const unit = { s: 1, m: 60, h: 3600, d: 86_400 }[found[2] ?? "s"] ?? 1;
  return Number(found[1]) * unit;
}
