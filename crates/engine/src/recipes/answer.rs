//! Answers to the question of an approval.

use std::sync::Arc;

use serde_json::json;

use super::machine::Machine;
use super::model::{Action, Approve};
use super::scope::Scope;
use super::step::Refused;
use super::{Answer, ErrorKind, Path, StepState, limits, schema, tree};

impl Machine {
    /// A person has answered. A second answer of the same person changes nothing.
    pub(super) fn answered(&mut self, path: &Path, answer: &Answer) -> Result<(), Refused> {
        let recipe = Arc::clone(&self.next.recipe);
        let found = tree::find(&recipe, path).and_then(|plan| match &plan.action {
            Action::Approve(approve) => Some((plan, approve)),
            _ => None,
        });
        let (plan, approve) = found.ok_or_else(|| Refused(format!("`{path}` asks nobody")))?;
        let run = self.next.steps.get(path).cloned().unwrap_or_default();
        if self.next.status.is_over() || !matches!(run.state, StepState::Running { .. }) {
            return Err(Refused(format!("`{path}` waits for no answer: it is {}", run.state.word())));
        }
        if run.answers.iter().any(|earlier| earlier.by == answer.by) {
            return Ok(());
        }
        self.may(path, approve, answer)?;
        if !answer.approve {
            self.halt(path, plan);
            let words = if answer.comment.is_empty() { String::new() } else { format!(": {}", answer.comment) };
            self.fail(path, plan, ErrorKind::Rejected, &format!("{} rejected it{words}", answer.name));
            return Ok(());
        }
        self.run(path).answers.push(answer.clone());
        let answers = &self.run(path).answers;
        if answers.len() < usize::try_from(approve.count.max(1)).unwrap_or(usize::MAX) {
            return Ok(());
        }
        let by: Vec<String> = answers.iter().map(|answer| answer.name.clone()).collect();
        let output = json!({ "approved": true, "by": by, "data": answer.data, "comment": answer.comment });
        self.halt(path, plan);
        self.succeed(path, plan, output);
        Ok(())
    }

    fn may(&self, path: &Path, approve: &Approve, answer: &Answer) -> Result<(), Refused> {
        if approve.not_starter && answer.starter {
            return Err(Refused("the person who started the execution may not answer".to_owned()));
        }
        let mut scope = Scope::new(&self.next, path);
        let who: Result<Vec<String>, _> = approve.who.iter().map(|name| scope.template(name)).collect();
        let who = who.map_err(|error| Refused(error.message))?;
        if !who.is_empty() && !who.contains(&answer.name) {
            return Err(Refused(format!("only {} may answer", who.join(", "))));
        }
        if limits::larger(&answer.data, limits::OUTPUT / 2) || answer.comment.len() > limits::OUTPUT / 4 {
            return Err(Refused("the answer is too large".to_owned()));
        }
        match &approve.form {
            Some(form) if answer.approve => schema::check(form, &answer.data).map_err(Refused),
            _ => Ok(()),
        }
    }
}
