//! Credentials begin and end (T4, T19, T20).

mod ends;
mod limits;
mod logins;
mod orders;
