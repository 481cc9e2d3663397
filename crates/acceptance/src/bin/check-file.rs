//! The judge of a file without the rest of the program, for tests.

fn main() {
    std::process::exit(acceptance::judge::main());
}
