import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Workspace } from "../src/protocol";
import { expect, test } from "./fixtures";
import { projectWithCode, run, session } from "./work";

test("uncommitted work is saved, restored, and never deleted", async ({ floor }) => {
  test.setTimeout(90_000);
  const project = await projectWithCode(floor);
  const { id, activity } = await run(floor, project, ["sh", "-c", "echo precious > notes.txt; exec cat"]);
  const page = await floor.owner();
  await page.goto(`/p/${project.id}/a/${activity}`);
  const card = page.getByRole("region", { name: "Workspaces" });
  await expect(card).toContainText("uncommitted", { timeout: 20_000 });
  await expect(card).toContainText(/saved/, { timeout: 20_000 });
  await floor.hub.api("POST", `/api/sessions/${id}/stop`, { force: true });
  await expect.poll(async () => (await session(floor, id)).state.status, { timeout: 20_000 }).toBe("exited");

  await card.getByRole("button", { name: "Clean up" }).click();
  await expect(card.getByRole("alert")).toBeVisible();
  const { workspace } = await floor.hub.api<{ workspace: Workspace }>("GET", `/api/sessions/${id}`);
  const file = join(workspace.path ?? "", "notes.txt");
  expect(readFileSync(file, "utf8")).toBe("precious\n");

  writeFileSync(file, "spoilt\n");
  await card.getByRole("button", { name: "Saves" }).click();
  const saves = card.getByRole("listitem");
  await expect(saves.first()).toBeVisible();
  await saves.last().getByRole("button", { name: "Restore" }).click();
  await expect(card.getByText(/Restored/)).toBeVisible();
  expect(readFileSync(file, "utf8")).toBe("precious\n");
});

test("a workspace without changes is cleaned up", async ({ floor }) => {
  const project = await projectWithCode(floor);
  const { id, activity } = await run(floor, project, ["true"]);
  await expect.poll(async () => (await session(floor, id)).state.status, { timeout: 20_000 }).toBe("exited");
  const { workspace } = await floor.hub.api<{ workspace: Workspace }>("GET", `/api/sessions/${id}`);
  const page = await floor.owner();
  await page.goto(`/p/${project.id}/a/${activity}`);
  const card = page.getByRole("region", { name: "Workspaces" });
  await card.getByRole("button", { name: "Clean up" }).click();
  await expect(card).toContainText("1 workspace cleaned up");
  expect(existsSync(workspace.path ?? "")).toBe(false);
});

test("a runner shows the disk usage of its workspaces", async ({ floor }) => {
  const project = await projectWithCode(floor);
  const page = await floor.owner();
  await page.goto("/runners");
  const card = page.getByRole("main").getByRole("listitem").first();
  await expect(card).toContainText("Online");
  await expect(card).not.toContainText("in workspaces");
  for (const name of ["one", "two"])
    await run(floor, project, ["sh", "-c", `head -c 3000000 /dev/urandom > ${name}`]);
  await expect(card).toContainText(/[67]\.\d MB in workspaces/, { timeout: 30_000 });
});
