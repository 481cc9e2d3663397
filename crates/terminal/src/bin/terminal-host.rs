//! The session host alone, for the tests of this crate; the product's binary has it as a subcommand.

use std::path::PathBuf;
use std::process::exit;

fn main() {
    let dir = std::env::args_os().nth(2).map(PathBuf::from).unwrap_or_default();
    exit(terminal::host::main(&dir));
}
