//! Who may do what, over every way in (T9).

mod changes;
mod fields;
mod leaks;
mod matrix;
