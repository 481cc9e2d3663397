import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Activity, Session, Workspace } from "../src/protocol";
import { expect, type Floor, test } from "./fixtures";
import { projectWithCode, session } from "./work";

/** The folder of a session's workspace, when it is ready. */
async function folder(floor: Floor, id: string): Promise<string> {
  let path: string | null = null;
  await expect(async () => {
    const { workspace } = await session(floor, id);
    const found = await floor.hub.api<Workspace>("GET", `/api/workspaces/${workspace}`);
    expect(found.status).toBe("ready");
    path = found.path;
  }).toPass();
  return path ?? "";
}

test("a collision appears on the activity, is compared, and goes", async ({ floor }) => {
  const project = await projectWithCode(floor);
  const [count, spell] = [await floor.activity(project, "Count"), await floor.activity(project, "Spell")];
  const works = (activity: Activity) =>
    floor.hub.api<Session>("POST", "/api/sessions", {
      activity: activity.id,
      agent: "command",
      argv: ["sleep", "1000"],
    });
  const [first, second] = [await works(count), await works(spell)];
  const readme = join(await folder(floor, first.id), "README.md");
  const other = join(await folder(floor, second.id), "README.md");
  const before = readFileSync(readme, "utf8");
  writeFileSync(readme, before.replace("two", "2"));
  writeFileSync(other, before.replace("two", "TWO"));

  const page = await floor.owner();
  await page.goto(`/p/${project.id}/a/${count.id}`);
  const overlaps = page.getByRole("region", { name: "Overlaps" });
  await expect(overlaps).toContainText("Will conflict");
  await expect(overlaps).toContainText("README.md:4");
  await overlaps.getByRole("button", { name: "Compare with Spell" }).click();
  await expect(overlaps.getByRole("region", { name: "Changes of Count" })).toContainText("+2");
  await expect(overlaps.getByRole("region", { name: "Changes of Spell" })).toContainText("+TWO");
  // The inspector scrolls, not the page.
  expect(
    await page.evaluate(() => document.documentElement.scrollHeight - document.documentElement.clientHeight),
  ).toBe(0);

  writeFileSync(other, before);
  await expect(overlaps).toBeHidden();
});

test("reserved files are shown on both activities until they are released", async ({ floor }) => {
  const project = await floor.project("Calculator", "read-write");
  const [parser, lexer] = [
    await floor.activity(project, "Add parser"),
    await floor.activity(project, "Add lexer"),
  ];
  const page = await floor.owner();
  await page.goto(`/p/${project.id}/a/${parser.id}`);
  const reserved = page.getByRole("region", { name: "Reserved files" });
  await reserved.getByRole("button", { name: "Reserve…" }).click();
  await reserved.getByLabel("Files, folders or globs").fill("src/**\ndocs");
  await reserved.getByLabel("Reason").fill("splitting the module");
  await reserved.getByRole("button", { name: "Reserve", exact: true }).click();
  await expect(reserved).toContainText("docs, src/**");
  await expect(reserved).toContainText("splitting the module");

  const guest = await floor.guest("Bo");
  await guest.goto(`/p/${project.id}/a/${lexer.id}`);
  const input = { patterns: ["src/lexer.rs"] };
  await floor.hub.api("POST", `/api/activities/${lexer.id}/reservations`, input);
  const overlaps = guest.getByRole("region", { name: "Overlaps" });
  await expect(overlaps).toContainText(/Reserved by Add parser until \d\d:\d\d/);
  await expect(overlaps).toContainText("src/lexer.rs");
  await expect(page.getByRole("region", { name: "Overlaps" })).toContainText("Reserved by Add lexer until");

  await reserved.getByRole("button", { name: "Release docs, src/**" }).click();
  await expect(overlaps).toBeHidden();
  await expect(guest.getByRole("region", { name: "Reserved files" })).toContainText("src/lexer.rs");
});
