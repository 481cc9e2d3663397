import type { Activity } from "../../protocol";
import { hub } from "../../state/hub/hub.svelte";
import { asProblem } from "../../lib/failure";
import { notices } from "../../state/shell/notices.svelte";

/** Closes an activity; the notice offers to open it again. */
export async function closeActivity(
  { id, name, status: before }: Activity,
  status: "completed" | "abandoned",
): Promise<void> {
  const set = (to: Activity["status"]) =>
    hub.call({ verb: "activity.update", activity: id, input: { status: to } });
  try {
    await set(status);
    notices.offer(`${name}: ${status}`, {
      word: "Undo",
      run: () => void set(before).catch((thrown: unknown) => failed(name, thrown)),
    });
  } catch (thrown) {
    failed(name, thrown);
  }
}

function failed(name: string, thrown: unknown): void {
  notices.tell(`${name}: ${asProblem(thrown).detail}`, true);
}
