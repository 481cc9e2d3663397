//! The typed client of the hub: verbs over HTTP, the live stream over WebSocket.
//!
//! It sends requests and retries them; it has no state that matters and prints nothing.

mod artifacts;
mod backoff;
mod error;
mod fetch;
mod hub;
mod join;
mod request;
mod seen;
mod socket;
pub mod terminal;
mod tls;
mod token;
mod url;
pub mod watch;

pub use artifacts::Download;
pub use backoff::Backoff;
pub use error::ClientError;
pub use fetch::fetch;
pub use hub::Client;
pub use protocol::View;
pub use request::{HttpRequest, request};
pub use socket::{Frame, RawSocket, Socket, dial};
pub use terminal::Terminal;
pub use token::Token;
pub use url::check_address;
pub use watch::Watch;
