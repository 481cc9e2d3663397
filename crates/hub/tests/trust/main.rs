//! A hub's promises to its users, tested from outside: over HTTP and WebSocket, against real databases.

mod access;
mod artifacts;
mod audit;
mod bounds;
mod credentials;
mod doors;
mod github;
mod headers;
mod hooks;
mod input;
mod links;
mod notify;
mod openapi;
mod outage;
mod support;
mod sync;
mod work;
