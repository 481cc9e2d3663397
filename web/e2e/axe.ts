import { AxeBuilder } from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Fails when axe finds a violation on a page. */
export async function check(page: Page, where: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).withTags(RULES).analyze();
  const found = violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(" | ")}`);
  expect(found, where).toEqual([]);
}
