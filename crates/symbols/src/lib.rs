//! The functions, methods and types of a file, and which of them differ between two versions of it.
//!
//! A symbol's code is compared without comments, without white space between its tokens, and without the symbols inside
//! it: a class does not change when one of its methods does. Files with syntax errors are read as far as possible.

mod changed;
mod extract;
mod languages;
mod names;
mod scan;

pub use changed::{Changed, changed};
pub use extract::{Limits, Symbol, Symbols, symbols};
pub use languages::Language;
