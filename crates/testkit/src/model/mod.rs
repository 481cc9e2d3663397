//! A scripted model for real agent CLIs: speaks the Responses API, Chat Completions, the Messages API and
//! `generateContent` on loopback, as slow and as faulty as the script says, and remembers what it was asked.

mod chat;
mod clients;
mod contents;
mod messages;
mod responses;
mod script;
mod server;
mod tools;

pub use clients::{claude_folder, cli_folder};
pub use script::{Tokens, Turn};
pub use server::{Asked, Model};
