// Loaded before a client that cannot be told to send a token: every request to the hub carries one.
import { Agent, setGlobalDispatcher } from "undici";

const token = process.env.SHOPFLOOR_TEST_TOKEN;

function withToken(headers) {
  if (Array.isArray(headers)) return [...headers, "authorization", `Bearer ${token}`];
  if (headers && typeof headers[Symbol.iterator] === "function")
    return [...headers, ["authorization", `Bearer ${token}`]].flat();
  return { ...headers, authorization: `Bearer ${token}` };
}

setGlobalDispatcher(
  new Agent().compose(
    (dispatch) => (options, handler) => dispatch({ ...options, headers: withToken(options.headers) }, handler),
  ),
);
