import { expect, it } from "vitest";
import { session, status } from "../testing/samples";
import { keyboardOf, keyboardRequests } from "./keyboard";

const bo = { id: "bo", name: "Bo" };
const cy = { id: "cy", name: "Cy" };
const with_ = (holder: typeof bo | null, requests: (typeof bo)[]) =>
  session("ses", { keyboard: { holder, requests } });

it("tells each person what they can do", () => {
  const kind = (one: ReturnType<typeof session>, me?: string) => keyboardOf(one, me)?.kind;
  expect(kind(with_(null, []), "ann")).toBe("own");
  expect(kind(with_(null, [bo]), "ann")).toBe("asked");
  expect(kind(with_(bo, [cy]), "ann")).toBe("lent");
  expect(kind(with_(bo, [cy]), "bo")).toBe("held");
  expect(kind(with_(bo, [cy]), "cy")).toBe("requested");
  expect(keyboardOf(with_(bo, []), "cy")).toEqual({ kind: "watching", holder: bo, mayAsk: true });
  expect(keyboardOf(with_(bo, []), undefined)).toEqual({ kind: "watching", holder: bo, mayAsk: false });
  expect(keyboardOf(session("over", { state: status("exited") }), "ann")).toBe(null);
});

it("lists the sessions whose keyboards others asked for", () => {
  const asked = with_(null, [bo]);
  const sessions = [asked, with_(bo, []), session("mine")];
  expect(keyboardRequests(sessions, "ann")).toEqual([asked]);
  expect(keyboardRequests(sessions, "bo")).toEqual([]);
});
