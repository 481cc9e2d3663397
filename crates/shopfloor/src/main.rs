//! The `shopfloor` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(shopfloor::run(std::env::args_os()).code())
}
