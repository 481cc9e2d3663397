//! The `shopfloor` program.

use std::process::ExitCode;

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Every session has such processes: keep them small.
    if let Some(code) = shopfloor::session_process(std::env::args_os()) {
        return ExitCode::from(code);
    }
    ExitCode::from(shopfloor::run(std::env::args_os()).code())
}
