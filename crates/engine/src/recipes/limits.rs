//! Limits of recipes and executions, each with the text that a person reads when it is reached.

use serde::Serialize;

/// Steps of a recipe, at all depths.
pub const STEPS: usize = 200;
/// Blocks inside of blocks.
pub const DEPTH: usize = 8;
/// Items of a `for_each`.
pub const ITEMS: usize = 500;
/// Steps that an execution begins, counting each attempt.
pub const BEGUN: u32 = 5_000;
/// Bytes of a step's output, as JSON.
pub const OUTPUT: usize = 64 * 1024;
/// Bytes of the output of a block, which holds those of its lanes.
pub const BLOCK: usize = 256 * 1024;
/// Bytes of the work of a step, with its templates rendered.
pub const WORK: usize = 512 * 1024;
/// Bytes of the key of an item.
pub const KEY: usize = 200;
/// Letters of an error that are kept.
pub const MESSAGE: usize = 2_000;
/// Bytes of all inputs, as JSON.
pub const INPUTS: usize = 64 * 1024;
/// The longest that an execution may run, in milliseconds: 30 days.
pub const RUNNING: u64 = 30 * 24 * 60 * 60 * 1_000;
/// How long the runner of an attempt may be away before the attempt is lost, in milliseconds: 15 minutes.
pub const RUNNER_AWAY: u64 = 15 * 60 * 1_000;
/// Attempts of a step that its retry policy may ask for.
pub const ATTEMPTS: u32 = 100;
/// Bytes of an expression or a template.
pub const SOURCE: usize = 16 * 1024;
/// Bytes of one `{{ … }}` or `{% … %}`, without the texts in it.
pub const CODE: usize = 1_024;
/// Operators in one of them that join texts or lists.
pub const JOINS: usize = 16;
/// `for` inside of `for` in a template.
pub const LOOPS: usize = 3;
/// Instructions of an evaluation.
pub const FUEL: u64 = 20_000;
/// Bytes that an evaluation yields.
pub const RENDERED: usize = 256 * 1024;

/// Whether a value is larger than this many bytes of JSON.
pub(super) fn larger(value: &impl Serialize, limit: usize) -> bool {
    struct Counter(usize);
    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or_else(|| std::io::Error::other("larger"))?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    serde_json::to_writer(Counter(limit), value).is_err()
}
