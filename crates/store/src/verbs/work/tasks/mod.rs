//! Tasks: the queue, its verbs, and the rows of tasks.

mod add;
pub(crate) mod before;
mod book;
pub(crate) mod brief;
pub(crate) mod check;
mod edit;
pub(crate) mod handover;
mod lease;
mod people;
pub(crate) mod reach;
pub(crate) mod reads;
mod report;
pub(crate) mod row;
mod shorts;
mod similar;
pub(crate) mod take;
mod tried;
mod turn;
mod wanted;
mod window;

pub(crate) use book::Book;
pub(crate) use handover::brief_of;
pub use lease::ExpireLeases;
pub(crate) use people::reopen_by_hub;
pub(crate) use reach::list;
pub use report::Reported;
pub use wanted::Wanted;
