import type { Page } from "@playwright/test";
import type { FromHub } from "../src/protocol";
import { expect, test } from "./fixtures";
import { add, start } from "./queue";
import { projectWithCode } from "./work";

/** Keeps back what a session showed, and every change after it, until it is let through. */
async function holdEvidence(page: Page): Promise<() => void> {
  let held: (() => void)[] | null = [];
  await page.routeWebSocket(/\/api\/ws/, (socket) => {
    const hub = socket.connectToServer();
    hub.onMessage((message) => {
      const frame = typeof message === "string" ? (JSON.parse(message) as FromHub) : null;
      const late =
        frame?.type === "delta" &&
        held !== null &&
        (held.length > 0 ||
          (frame.change.kind === "escalation" && frame.change.escalation.context.screen !== null));
      if (late) held?.push(() => socket.send(message));
      else socket.send(message);
    });
  });
  return () => {
    held?.forEach((send) => send());
    held = null;
  };
}

test("what comes with the question later is shown once, beside who had the task", async ({ floor }) => {
  test.setTimeout(120_000);
  const project = await projectWithCode(floor);
  const page = await floor.owner();
  const letThrough = await holdEvidence(page);
  await page.goto("/needs");
  await expect(page.getByRole("heading", { name: "Nothing needs you" })).toBeVisible();
  await add(floor, project, { description: "Judge it", acceptance: [{ kind: "text", text: "nice" }] });
  const [worker] = await start(floor, project, "echo made > made.txt; echo all is done");
  await page.getByRole("link", { name: "Everything about it" }).click();

  const fetched = page.getByRole("region", { name: "Last on the screen" });
  await expect(fetched).toContainText("all is done");
  await expect(page.getByRole("region", { name: "What was changed" })).toContainText("made.txt");
  const attempts = page.getByRole("region", { name: "Attempts" }).getByRole("listitem");
  await expect(attempts).toHaveCount(1);
  await expect(attempts).toContainText(`${worker?.name}`);
  await expect(attempts).toContainText("command");

  letThrough();
  await expect(page.getByRole("group", { name: "Last on the screen" })).toContainText("all is done");
  await expect(page.getByRole("group", { name: "What Judge it changes" })).toContainText("made.txt");
  await expect(fetched).toHaveCount(0);
  await expect(page.getByRole("region", { name: "What was changed" })).toHaveCount(0);
});
