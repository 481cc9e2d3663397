//! The way to the hub: run a verb, get its answer.

use std::pin::Pin;

use protocol::{Answer, Call, Problem, ProblemKind, View};

/// A verb that is being run.
pub type Running<'a> = Pin<Box<dyn Future<Output = Result<Answer, Problem>> + Send + 'a>>;

/// Runs verbs as one caller.
pub trait Verbs: Send + Sync + 'static {
    /// Runs a verb; a refusal says why.
    fn run(&self, call: Call) -> Running<'_>;
}

/// Runs a verb and returns the view that its answer carries.
pub(crate) async fn ask<T: View>(verbs: &dyn Verbs, call: Call) -> Result<T, Problem> {
    let verb = call.verb();
    let answer = verbs.run(call).await?;
    T::from_answer(answer)
        .ok_or_else(|| Problem::new(ProblemKind::Protocol, format!("{verb} has no answer of this kind")))
}
