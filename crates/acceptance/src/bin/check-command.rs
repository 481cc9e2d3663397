//! The warden of a command without the rest of the program, for tests.

fn main() {
    std::process::exit(acceptance::warden::main(std::env::args().skip(1)));
}
