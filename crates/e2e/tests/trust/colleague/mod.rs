//! A hostile colleague: everything that somebody with write access can send, against an owner's runner with a canary.

mod answers;
mod doors;
mod requests;
mod round_trip;
mod scene;
mod unasked;
mod verbs;
