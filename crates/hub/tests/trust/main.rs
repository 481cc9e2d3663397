//! What a hub promises to whoever trusts it, tested from outside: over HTTP and WebSocket, against real databases.

mod access;
mod doors;
mod github;
mod input;
mod sessions;
mod support;
mod sync;
