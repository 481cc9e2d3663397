//! Finding things by their words: what a text is indexed under, what a query looks up, and which result comes first.
//!
//! A database only looks up terms; all other rules are here, so that both databases find the same.

mod near;
mod rank;
mod tokens;
mod words;

pub use rank::{Candidate, Piece, Quality, Rank};
pub use tokens::{Query, Term, terms};
pub use words::{Word, words};
