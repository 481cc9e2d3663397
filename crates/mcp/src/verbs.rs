//! The connection to the hub: runs a verb and returns its answer.

use std::pin::Pin;

use protocol::{Answer, Call, Problem, ProblemKind, View};

/// A running verb.
pub type Running<'a> = Pin<Box<dyn Future<Output = Result<Answer, Problem>> + Send + 'a>>;

/// Runs verbs for one caller.
pub trait Verbs: Send + Sync + 'static {
    /// Runs a verb; an error says why it was refused.
    fn run(&self, call: Call) -> Running<'_>;
}

/// Runs a verb and returns the view in its answer.
pub(crate) async fn ask<T: View>(verbs: &dyn Verbs, call: Call) -> Result<T, Problem> {
    let verb = call.verb();
    let answer = verbs.run(call).await?;
    T::from_answer(answer).ok_or_else(|| Problem::new(ProblemKind::Protocol, format!("unexpected answer to {verb}")))
}
