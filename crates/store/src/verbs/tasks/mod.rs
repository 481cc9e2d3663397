//! Tasks: what is to be done, who holds it, what was handed back.

mod book;
pub(crate) mod moves;
mod reach;
pub(crate) mod row;
mod window;

pub(crate) use book::Book;
