import { expect, sidebar, test } from "./fixtures";
import { add, ask, take } from "./queue";
import { projectWithCode, run } from "./work";

test("a row in the sidebar shows the state of its session as text", async ({ floor }) => {
  const project = await projectWithCode(floor);
  await run(floor, project, ["sh", "-c", "echo hello; exec cat"]);
  const page = await floor.owner();
  const row = sidebar(page).locator("a.row").first();
  await expect(row.locator(".live")).toHaveText(/Working|Idle/);
  await expect(row.locator(".live .status > span")).not.toHaveClass(/visually-hidden/);
  // Icons have tooltips and texts for screen readers.
  for (const sign of await row.locator(".status").all()) {
    const hidden = (await sign.locator("> span").getAttribute("class")) === "visually-hidden";
    expect(hidden ? await sign.getAttribute("title") : await sign.textContent()).toMatch(/\w/);
  }
});

test("the reason of a request has two lines and a tooltip", async ({ floor }) => {
  const project = await floor.project("Plans");
  await add(floor, project, "Round the cents");
  const page = await floor.owner();
  const question =
    "Half up or half down, or to even as the bank does it since the new rules of this year came into force?";
  await ask(floor, await take(floor, project, "outside"), question);
  const why = sidebar(page).getByRole("region", { name: "Needs you" }).locator(".why");
  await expect(why).toHaveAttribute("title", `Round the cents: ${question}`);
  const lines = await why.evaluate((one) => one.clientHeight / parseFloat(getComputedStyle(one).lineHeight));
  expect(Math.round(lines)).toBe(2);
});

test("finished terminals are readable in the grid, and play only when the runner is online", async ({
  floor,
}) => {
  test.setTimeout(120_000);
  const project = await projectWithCode(floor);
  const page = await floor.owner();
  const size = { cols: 220, rows: 60 };
  const { id } = await run(floor, project, ["sh", "-c", "seq 1 90; echo ended-here"], size);
  await page.goto(`/s/${id}`);
  await expect(page.getByRole("link", { name: "Play recording" })).toBeVisible();
  for (const word of ["two", "three", "four"]) {
    const one = await run(floor, project, ["sh", "-c", `echo this-is-${word}; exec cat`]);
    await page.goto(`/s/${one.id}`);
    await expect(page.locator(".xterm-rows").first()).toContainText(`this-is-${word}`);
  }
  await page.keyboard.press("Control+Shift+G");
  await expect(page.locator(".xterm-rows")).toHaveCount(4);
  const over = page.locator(".tile").filter({ hasText: "ended-here" });
  const letters = () =>
    over.locator(".xterm-rows").evaluate((rows) => parseFloat(getComputedStyle(rows).fontSize));
  await expect.poll(letters).toBeGreaterThanOrEqual(10);
  const seen = () =>
    over.evaluate((tile) => {
      const row = [...tile.querySelectorAll(".xterm-rows > div")].find(
        (one) => one.textContent?.trim() === "ended-here",
      );
      const [inner, outer] = [row, tile.querySelector(".screen")].map((one) => one?.getBoundingClientRect());
      return inner && outer ? inner.top >= outer.top && inner.bottom <= outer.bottom + 1 : false;
    });
  await expect.poll(seen).toBe(true);

  const pid = floor.hub.runnerPid;
  process.kill(pid, "SIGSTOP");
  try {
    const play = over.getByRole("button", { name: "Play recording" });
    await expect(play).toBeDisabled({ timeout: 60_000 });
    await expect(play).toHaveAccessibleDescription(/is offline/);
    await expect(over.getByRole("link", { name: "Play recording" })).toHaveCount(0);
  } finally {
    process.kill(pid, "SIGCONT");
  }
  await expect(over.getByRole("link", { name: "Play recording" })).toBeVisible({ timeout: 30_000 });
});
