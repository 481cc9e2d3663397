import { readFileSync } from "node:fs";
import type { Artifact, Execution, Recipe } from "../src/protocol";
import { check } from "./axe";
import { expect, test } from "./fixtures";

const TEXT = `name: greet
description: Says hello
steps:
  - id: tell
    notify: {to: chat, text: Hello}
`;

test("an execution leaves a summary, which is shown, downloaded and removed", async ({ floor }) => {
  const project = await floor.project("shop");
  const page = await floor.owner();
  await page.goto(`/p/${project.id}/artifacts`);
  await expect(page.getByRole("heading", { name: "No artifacts yet" })).toBeVisible();
  await check(page, "a project without artifacts");

  const recipe = await floor.hub.api<Recipe>("POST", `/api/projects/${project.id}/recipes`, { text: TEXT });
  const started = await floor.hub.api<Execution>("POST", `/api/recipes/${recipe.id}/executions`, {});
  await page.goto(`/p/${project.id}/executions/${started.id}`);
  await expect(page.locator("[data-execution]")).toHaveAttribute("data-execution", "completed");
  const artifacts = page.getByRole("region", { name: "Artifacts" });
  await artifacts.getByRole("button", { name: "Preview summary.md" }).click();
  await expect(artifacts.getByText("greet: completed", { exact: true })).toBeVisible();
  await check(page, "the summary of an execution");

  const [download] = await Promise.all([
    page.waitForEvent("download"),
    artifacts.getByRole("link", { name: "Download summary.md" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("summary.md");
  expect(readFileSync(await download.path(), "utf8")).toContain("# greet: completed");

  await page.goto(`/p/${project.id}/artifacts`);
  await page.getByRole("button", { name: "Remove" }).click();
  await check(page, "the artifacts of a project");
  await page.getByRole("button", { name: "Remove" }).last().click();
  await expect(page.getByRole("heading", { name: "No artifacts yet" })).toBeVisible();
  const left = await floor.hub.api<Artifact[]>("GET", `/api/projects/${project.id}/artifacts`);
  expect(left).toEqual([]);
});

test("files are uploaded by a person, and an open list follows what others add", async ({ floor }) => {
  const project = await floor.project("shop");
  const page = await floor.owner();
  await page.goto(`/p/${project.id}/artifacts`);
  await expect(page.getByText("at most 64 MiB each", { exact: false }).first()).toBeVisible();
  const file = { name: "notes.md", mimeType: "text/markdown", buffer: Buffer.from("# Notes\n") };
  await page.getByLabel("Files to upload").setInputFiles([file]);
  const list = page.getByRole("list", { name: "Artifacts" });
  await expect(list.getByText("notes.md", { exact: true })).toBeVisible();
  const kept = await floor.hub.api<Artifact[]>("GET", `/api/projects/${project.id}/artifacts`);
  expect(kept.map((one) => [one.name, one.size, one.media_type])).toEqual([["notes.md", 8, "text/markdown"]]);

  await floor.hub.api("POST", `/api/projects/${project.id}/artifacts`, {
    name: "late.txt",
    text: "by an agent",
  });
  await expect(list.getByText("late.txt", { exact: true })).toBeVisible({ timeout: 15_000 });
  await check(page, "artifacts with an upload");

  // A file that is too large is refused before it is sent.
  await page.route("**/contents/*", () => {
    throw new Error("nothing is sent");
  });
  await floor.hub.api("PATCH", `/api/projects/${project.id}/artifacts/settings`, { max_mib: 1 });
  await page.reload();
  const large = { name: "large.bin", mimeType: "", buffer: Buffer.alloc(1024 * 1024 + 1) };
  await page.getByLabel("Files to upload").setInputFiles([large]);
  await expect(page.getByText("an artifact has at most 1 MiB", { exact: false })).toBeVisible();
});
