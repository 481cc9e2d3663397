import { expect, test } from "./fixtures";
import { projectWithCode, run, screen, session } from "./work";

test("the palette finds messages, tasks and typos, and opens the chat at the message", async ({ floor }) => {
  const project = await floor.project("Plans");
  const hidden = await floor.project("Narwhal", "private");
  await floor.say(hidden, "the narwhal sings");
  await floor.say(project, "the walrus hums a narwhal song");
  for (let number = 0; number < 120; number++) await floor.say(project, `filler ${number}`);
  await floor.hub.api("POST", `/api/projects/${project.id}/tasks`, {
    tasks: [{ description: "Deploy the narwhal" }],
  });
  const page = await floor.owner();
  const results = page.getByRole("listbox", { name: "Results" });
  const type = async (text: string) => {
    await page.keyboard.press("Control+k");
    await page.keyboard.type(text);
  };

  await test.step("results have kinds, and the query is marked", async () => {
    await type("narw");
    await expect(results.getByRole("option", { name: /PLAN-1.*Deploy the narwhal/ })).toBeVisible();
    await expect(results.getByText("Messages", { exact: true })).toBeVisible();
    await expect(results.locator("mark").first()).toHaveText("narwhal");
    await page.keyboard.press("Escape");
  });

  await test.step("a typo in a title is forgiven", async () => {
    await type("depoly");
    await expect(results.getByRole("option", { name: /Deploy the narwhal/ })).toBeVisible();
    await page.keyboard.press("Escape");
  });

  await test.step("commands match by name, not by scattered letters", async () => {
    await type("sect");
    await expect(page.getByText("No results for “sect”.")).toBeVisible();
    await page.keyboard.press("Escape");
  });

  await test.step("a chat result opens the chat at an old message", async () => {
    await type("walrus");
    await expect(results.getByRole("option", { name: /walrus/ })).toBeVisible();
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(`/p/${project.id}?m=1`);
    await expect(page.getByRole("article").filter({ hasText: "walrus" })).toBeInViewport();
  });

  await test.step("a guest finds nothing of a private project", async () => {
    const guest = await floor.guest("Bo");
    await guest.keyboard.press("Control+k");
    await guest.keyboard.type("narwhal");
    const found = guest.getByRole("listbox", { name: "Results" }).getByRole("option");
    await expect(found.filter({ hasText: "Deploy the narwhal" })).toBeVisible();
    await expect(found.filter({ hasText: "sings" })).toHaveCount(0);
    await expect(found).toHaveCount(2);
  });
});

test("the palette finds lines of terminals and opens the recording there", async ({ floor }) => {
  const project = await projectWithCode(floor);
  // The title of the session has no such word.
  const line = "printf 'the nar%s swims\\n' whal";
  const script = `echo begin; sleep 1.5; clear; ${line}; sleep 1.5; clear; echo end`;
  const { id } = await run(floor, project, ["sh", "-c", script]);
  await expect.poll(async () => (await session(floor, id)).state.status, { timeout: 20_000 }).toBe("exited");
  const lines = async () => {
    const found = (await floor.hub.api("GET", "/api/search/terminals?text=narw")) as { hits: unknown[] };
    return found.hits.length;
  };
  // The runner reads recordings beside everything else.
  await expect.poll(lines, { timeout: 20_000 }).toBe(1);

  const page = await floor.owner();
  const results = page.getByRole("listbox", { name: "Results" });
  // A runner that is busy does not answer in time.
  await expect(async () => {
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("narwhal sw");
    await expect(results.getByText("In terminals", { exact: true })).toBeVisible({ timeout: 2000 });
  }).toPass({ timeout: 20_000 });
  await expect(results.locator("mark").first()).toHaveText("narwhal");
  await results.getByRole("option", { name: /the narwhal swims/ }).click();
  await expect(page).toHaveURL(new RegExp(`/s/${id}/recording\\?t=\\d+`));
  await expect(screen(page)).toContainText("the narwhal swims");
  await expect(screen(page)).not.toContainText("end");

  await test.step("a guest without access to the terminals finds nothing", async () => {
    await floor.hub.api("PATCH", `/api/projects/${project.id}`, { share_execution: false });
    const guest = await floor.guest("Bo");
    await guest.keyboard.press("Control+k");
    await guest.keyboard.type("narwhal");
    await expect(guest.getByText("No results for “narwhal”.")).toBeVisible();
  });
});
