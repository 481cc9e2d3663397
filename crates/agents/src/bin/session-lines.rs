//! The wrapper of structured lines without the rest of the program, for tests.

fn main() {
    std::process::exit(agents::lines::main(std::env::args().skip(2)));
}
