import { mount } from "svelte";
import App from "./app/App.svelte";
import "./ui/tokens.css";
import "./ui/base.css";

// The secret of a link must not stay in the address bar or the history.
const secret = location.hash.slice(1);
if (secret && /^\/(login|join|observe)$/.test(location.pathname)) {
  history.replaceState(null, "", location.pathname);
}

const target = document.getElementById("app");
if (target) mount(App, { target, props: { secret } });
