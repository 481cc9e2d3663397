//! Artifacts: what executions, agents and people leave for others.
//!
//! Content is stored once for each hash, as rows of chunks in either database; an artifact names its hash. Who sent all of
//! a content, or sees an artifact with it, may make an artifact of it; nobody else can use a hash that they have heard of.

mod contents;
mod put;
mod reads;
mod rows;
mod settings;
mod tidy;
mod upload;

pub use reads::ArtifactStream;
pub use tidy::{TidiedArtifacts, TidyArtifacts};
pub use upload::{AppendContent, ArtifactRoom, BeginContent, DropContent, EndContent};

pub(crate) use put::{NewArtifact, Place, add};
pub(crate) use upload::has_room;

/// The bytes of a chunk; only the last chunk of a content has fewer.
pub const ARTIFACT_CHUNK: usize = 256 * 1024;
