//! Who may do what, over every way in (T9).

mod leaks;
mod matrix;
