import { expect, it } from "vitest";
import { isLocal } from "./address";

it("links to loopback addresses are local", () => {
  for (const link of ["http://127.0.0.1:4720/join#x", "http://[::1]:4720/join#x", "https://localhost/join"])
    expect(isLocal(link), link).toBe(true);
  for (const link of [
    "http://192.0.2.1/join#127.0.0.1",
    "https://floor.example.org/",
    "http://localhost.example.org",
    "",
  ])
    expect(isLocal(link), link).toBe(false);
});
