import { expect, it } from "vitest";
import { workedFor } from "./attempts";

const at = (minute: number) => new Date(Date.UTC(2026, 10, 15, 10, minute)).toISOString();
const minutes = (ms: number | null) => ms && ms / 60_000;

it("the time of an attempt leaves out the time in which a person thought", () => {
  const attempt = { started_at: at(0), ended_at: at(50) };
  expect(minutes(workedFor(attempt, []))).toBe(50);
  const asked = [
    { created_at: at(10), answered_at: at(30) },
    { created_at: at(20), answered_at: at(40) },
  ];
  expect(minutes(workedFor(attempt, asked))).toBe(20);
  expect(minutes(workedFor(attempt, [{ created_at: at(45), answered_at: null }]))).toBe(45);
  expect(minutes(workedFor(attempt, [{ created_at: at(51), answered_at: at(59) }]))).toBe(50);
  expect(workedFor({ ...attempt, ended_at: null }, asked)).toBeNull();
});
