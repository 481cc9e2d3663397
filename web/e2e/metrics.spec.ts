import type { FromHub, ToHub } from "../src/protocol";
import { expect, test } from "./fixtures";
import { add, ask, report, take } from "./queue";
import { projectWithCode } from "./work";

test("metrics have plots with a summary, a picture and a table", async ({ floor }) => {
  const project = await projectWithCode(floor);
  const page = await floor.owner();
  const figure = (name: string) => page.getByRole("figure", { name, exact: true });
  const metrics = `/p/${project.id}/metrics`;

  await test.step("an empty project explains the metrics", async () => {
    await page.goto(metrics);
    await expect(page.getByRole("heading", { name: "No metrics yet" })).toBeVisible();
    await expect(page.getByText("shopfloor worker start --project Shop")).toBeVisible();
    await expect(page.getByRole("figure")).toHaveCount(10);
    await expect(figure("Detection time")).toContainText("No lost workers or failed sessions");
    await expect(figure("Context scores")).toContainText("Agents rate from 1 to 5");
    await expect(page.getByRole("figure").getByRole("img")).toHaveCount(0);
  });

  await add(floor, project, "Alpha", "Beta is next", "Gamma comes third");
  const first = await take(floor, project, "ann");
  const second = await take(floor, project, "bo");
  await report(floor, first, "Did it");
  await report(floor, second, "Did it as well");
  const third = await take(floor, project, "ann");
  await ask(floor, third, "Which one?");

  await test.step("the peak is the number of workers at one moment", async () => {
    await page.goto(metrics);
    await expect(page.getByRole("term").filter({ hasText: "Concurrent workers" })).toBeVisible();
    await expect(figure("Concurrent workers")).toContainText("Peak 2, average under 0.01.");
    await expect(figure("Speed-up")).toContainText("overall");
    await expect(figure("Interventions per task")).toContainText("1 request to people for 2 finished tasks.");
  });

  await test.step("scores have a distribution and a plot over time", async () => {
    await expect(figure("Context scores")).toContainText("from 2 reports");
    await expect(figure("Context scores").getByRole("row").filter({ hasText: /^4/ })).toContainText("100 %");
    await expect(figure("Context score over time")).toContainText("4.00 of 5 on average.");
  });

  await test.step("plots work with the keyboard", async () => {
    const peak = figure("Concurrent workers");
    await peak.getByText("As a table").focus();
    await page.keyboard.press("Enter");
    await expect(peak.getByRole("columnheader", { name: "Peak" })).toBeVisible();
    await expect(peak.getByRole("row").last()).toContainText("2");
    const rows = figure("Speed-up");
    await rows.getByText("As a table").click();
    await expect(rows.getByRole("row").nth(1)).toContainText("–");
  });

  await test.step("the value under the pointer replaces the summary", async () => {
    const ended = figure("Finished tasks");
    const high = (await ended.boundingBox())?.height;
    await ended.getByRole("img").scrollIntoViewIfNeeded();
    const box = await ended.getByRole("img").boundingBox();
    await page.mouse.move((box?.x ?? 0) + (box?.width ?? 0) - 12, (box?.y ?? 0) + 60);
    await expect(ended.locator(".readout")).toContainText("Done 2");
    expect((await ended.boundingBox())?.height).toBe(high);
  });

  await test.step("empty plots explain why", async () => {
    await expect(figure("Cost")).toContainText("No agent reported cost");
    await expect(figure("Finished tasks").getByRole("img")).toBeVisible();
  });
});

test("metrics match the selected range, in any order of answers", async ({ floor }) => {
  const project = await floor.project("Plans");
  await add(floor, project, "Alpha");
  await report(floor, await take(floor, project, "ann"), "Did it");
  const page = await floor.owner();
  // The answer for a long range is slow and has a different number.
  const slow = new Set<number>();
  const late: (() => void)[] = [];
  await page.routeWebSocket(/\/api\/ws/, (socket) => {
    const hub = socket.connectToServer();
    socket.onMessage((message) => {
      const frame = typeof message === "string" ? (JSON.parse(message) as ToHub) : null;
      if (frame?.type === "request" && frame.call.verb === "work.metrics" && frame.call.page.hours === 720)
        slow.add(frame.id);
      hub.send(message);
    });
    hub.onMessage((message) => {
      const frame = typeof message === "string" ? (JSON.parse(message) as FromHub) : null;
      if (frame?.type !== "answer" || !slow.has(frame.id) || frame.answer.kind !== "metrics")
        return socket.send(message);
      frame.answer.value.interventions = 77;
      late.push(() => socket.send(JSON.stringify(frame)));
    });
  });
  await page.goto(`/p/${project.id}/metrics`);
  const asked = page.getByRole("figure", { name: "Interventions per task", exact: true });
  await expect(asked).toContainText("for 1 finished task");

  await page.getByLabel("Range").selectOption("Last 30 days");
  await expect(page.getByText("Loading metrics")).toBeVisible();
  await expect(asked).toHaveCount(0);
  await page.getByLabel("Range").selectOption("Last hour");
  await expect(asked).toContainText("for 1 finished task");
  await expect.poll(() => late.length).toBe(1);
  late.forEach((send) => send());
  await floor.hub.api("PATCH", `/api/projects/${project.id}`, { content: "Other plans" });
  await expect(page.getByRole("link", { name: "Other plans" }).first()).toBeVisible();
  await expect(asked).not.toContainText("77");
});

test("the toolbar of the pool fits on one line beside an open worker", async ({ floor }) => {
  const project = await projectWithCode(floor);
  await floor.hub.api("PATCH", `/api/projects/${project.id}/work`, { budget_micros: 25_000_000 });
  await add(floor, project, "Alpha", "Beta is next");
  await take(floor, project, "ann");
  const page = await floor.owner();
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(`/p/${project.id}/workers`);
  await page.getByRole("link", { name: "ann" }).click();
  await expect(page.getByRole("complementary", { name: "Worker" })).toBeVisible();
  const middle = async (name: string, role: "heading" | "link" | "button") => {
    const box = await page.getByRole(role, { name, exact: true }).first().boundingBox();
    return Math.round((box?.y ?? 0) + (box?.height ?? 0) / 2);
  };
  const line = await middle("Workers", "heading");
  expect(Math.abs((await middle("Start workers", "button")) - line)).toBeLessThan(4);
  expect(Math.abs((await middle("Task settings", "link")) - line)).toBeLessThan(4);
  const sums = await page.getByText("1 of 1 worker working").boundingBox();
  expect(sums?.height).toBeLessThan(24);
});
