//! The hub: it decides what should happen and when.
//!
//! HTTP and WebSocket at the edge, verbs behind it, the store below. It opens no terminal, runs no process and touches
//! no working copy.

mod app;
mod background;
mod error;
mod files;
mod hooks;
mod http;
mod hub;
mod limits;
mod links;
mod listen;
mod live;
mod notify;
mod options;
mod start;
mod well;

pub use error::AppError;
pub use http::openapi::document as openapi_document;
pub use options::{GithubOptions, Limits, Options, TlsFiles, key_beside};
pub use start::{Running, StartError, start};
