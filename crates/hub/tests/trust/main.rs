//! A hub's promises to its users, tested from outside: over HTTP and WebSocket, against real databases.

mod access;
mod audit;
mod bounds;
mod credentials;
mod doors;
mod github;
mod headers;
mod input;
mod links;
mod openapi;
mod outage;
mod support;
mod sync;
mod work;
