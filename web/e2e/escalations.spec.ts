import type { Page } from "@playwright/test";
import type { Escalation, FromHub, ToHub } from "../src/protocol";
import { expect, live, test } from "./fixtures";
import { add, ask, start, take } from "./queue";
import { projectWithCode } from "./work";

/** Delays a session's output and all later changes until released. */
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

test("late context of an escalation is shown once", async ({ floor }) => {
  test.setTimeout(120_000);
  const project = await projectWithCode(floor);
  const page = await floor.owner();
  const letThrough = await holdEvidence(page);
  await page.goto("/needs");
  await expect(page.getByRole("heading", { name: "Nothing needs you" })).toBeVisible();
  await add(floor, project, { description: "Judge it", acceptance: [{ kind: "text", text: "nice" }] });
  const [worker] = await start(floor, project, "echo made > made.txt; echo all is done");
  await page.getByRole("link", { name: "Open", exact: true }).click();

  const fetched = page.getByRole("region", { name: "Last output" });
  await expect(fetched).toContainText("all is done");
  await expect(page.getByRole("region", { name: "Changes" })).toContainText("made.txt");
  const attempts = page.getByRole("region", { name: "Attempts" }).getByRole("listitem");
  await expect(attempts).toHaveCount(1);
  await expect(attempts).toContainText(`${worker?.name}`);
  await expect(attempts).toContainText("command");

  letThrough();
  await expect(page.getByRole("group", { name: "Last output" })).toContainText("all is done");
  await expect(page.getByRole("group", { name: "Changes of Judge it" })).toContainText("made.txt");
  await expect(fetched).toHaveCount(0);
  await expect(page.getByRole("region", { name: "Changes" })).toHaveCount(0);
});

test("a question stays in place while others are answered", async ({ floor }) => {
  const project = await floor.project("Plans");
  await add(floor, project, "Alpha", "Beta is next", "Gamma comes third");
  for (const worker of ["ann", "bo", "cleo"]) {
    const taken = await take(floor, project, worker);
    await ask(floor, taken, `What does ${worker} do?`, ["This", "That"]);
  }
  const asked = await floor.hub.api<Escalation[]>("GET", "/api/escalations");
  const page = await floor.owner();
  await page.goto(`/p/${project.id}`);
  const [first, second, third] = ["ann", "bo", "cleo"].map((worker) =>
    page.getByRole("article").filter({ hasText: `What does ${worker} do?` }),
  );
  if (!first || !second || !third) throw new Error("there are three");
  await expect(first).toBeVisible();
  await page.getByRole("button", { name: "Next" }).click();
  await second.getByLabel("Message to the agent").fill("as the bank does");

  await floor.hub.api(
    "POST",
    `/api/escalations/${asked.find((one) => one.question.includes("ann"))?.id}/answer`,
    { option: "This" },
  );
  await expect(page.getByText("Open request 1 of 2")).toBeVisible();
  await expect(second.getByLabel("Message to the agent")).toHaveValue("as the bank does");

  // A second click must not answer the next question.
  await second.getByRole("button", { name: "That" }).dblclick();
  await expect(second).toContainText("owner answered (answer): That");
  await expect(third).toHaveCount(0);
  await expect(third.getByRole("button", { name: "That" })).toBeEnabled();
  await expect(second).toHaveCount(0);

  await test.step("the list keeps it in place and shows the answer", async () => {
    await page.goto(`/p/${project.id}/escalations`);
    await third.getByRole("button", { name: "This" }).click();
    await expect(third).toContainText("owner answered (answer): This");
    await expect(page.getByRole("article").first()).toContainText("What does cleo do?");
    await expect(page.getByRole("region", { name: "Answered" }).getByRole("article")).toHaveCount(2);
  });
});

test("an answered question is still visible after a full sync", async ({ floor }) => {
  const project = await floor.project("Plans");
  await add(floor, project, "Round the cents");
  await ask(floor, await take(floor, project, "ann"), "Half up?", ["Yes", "No"]);
  const [asked] = await floor.hub.api<Escalation[]>("GET", "/api/escalations");
  const page = await floor.owner();
  let drop = () => {};
  await page.routeWebSocket(/\/api\/ws/, (socket) => {
    const hub = socket.connectToServer();
    drop = () => void socket.close({ code: 1012 });
    // A client without a resume position gets a full sync.
    socket.onMessage((message) => {
      const frame = typeof message === "string" ? (JSON.parse(message) as ToHub) : null;
      if (frame?.type !== "hello") return hub.send(message);
      const { type, protocol, client } = frame;
      hub.send(JSON.stringify({ type, protocol, client }));
    });
  });
  await page.goto(`/e/${asked?.id}`);
  await page.getByRole("button", { name: "Yes" }).click();
  await expect(page.getByText("owner answered (answer): Yes")).toBeVisible();
  drop();
  await expect(page.locator("[data-connection=live]")).toHaveCount(0);
  await live(page);
  await floor.say(project, "after the full sync");
  await expect(page.getByText("owner answered (answer): Yes")).toBeVisible();
  await expect(page.getByText("Loading the question")).toHaveCount(0);
});
