//! The work of a step, with its templates rendered.

use domain::Timestamp;
use serde_json::{Map, Value as Json};

use super::eval::{self, EvalError};
use super::model::{Action, Agent, Approve, Expr, Place, Run, Step as Plan, Template, Value, Wait};
use super::scope::Scope;
use super::{ErrorKind, Work, Workplace};

/// Why a step cannot begin.
pub(super) struct Fault {
    /// The kind of error.
    pub kind: ErrorKind,
    /// What is wrong.
    pub message: String,
}

impl Fault {
    pub(super) fn expression(message: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Expression, message: message.into() }
    }

    pub(super) fn limit(message: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Limit, message: message.into() }
    }
}

impl From<EvalError> for Fault {
    fn from(error: EvalError) -> Self {
        Self::expression(error.message)
    }
}

/// The work of a step that is no block.
pub(super) fn work(scope: &mut Scope<'_>, plan: &Plan, now: Timestamp) -> Result<Work, Fault> {
    Ok(match &plan.action {
        Action::Agent(agent) => agent_work(scope, agent)?,
        Action::Run(run) => Work::Run { argv: argv(scope, run)?, place: place(scope, &run.workspace)? },
        Action::Task { tasks } => Work::Tasks { tasks: self::tasks(scope, tasks)? },
        Action::Wait(wait) => event(scope, wait)?,
        Action::Approve(approve) => ask(scope, approve, now)?,
        Action::Notify { to, text } => Work::Notify { to: scope.template(to)?, text: scope.template(text)? },
        Action::Merge { branch } => match scope.template(branch)? {
            branch if branch.trim().is_empty() => return Err(Fault::expression("there is no branch to merge")),
            branch => Work::Merge { branch },
        },
        Action::Call { recipe, inputs } => {
            let one = |(name, value): (&String, &Value)| Ok((name.clone(), scope.value(value)?));
            Work::Call { recipe: recipe.clone(), inputs: inputs.iter().map(one).collect::<Result<Map<_, _>, Fault>>()? }
        }
        Action::Branch { .. } | Action::Parallel { .. } | Action::ForEach(_) | Action::End { .. } => {
            return Err(Fault::expression("this step has no work"));
        }
    })
}

fn optional(scope: &mut Scope<'_>, template: Option<&Template>) -> Result<Option<String>, EvalError> {
    template.map(|template| scope.template(template)).transpose()
}

fn agent_work(scope: &mut Scope<'_>, agent: &Agent) -> Result<Work, Fault> {
    Ok(Work::Agent {
        profile: optional(scope, agent.profile.as_ref())?,
        agent: optional(scope, agent.agent.as_ref())?,
        model: optional(scope, agent.model.as_ref())?,
        prompt: optional(scope, agent.prompt.as_ref())?,
        title: optional(scope, agent.title.as_ref())?,
        accept: agent.accept.iter().map(|value| scope.value(value)).collect::<Result<_, _>>()?,
        files: agent.files.iter().map(|file| scope.template(file)).collect::<Result<_, _>>()?,
        place: place(scope, &agent.workspace)?,
    })
}

fn argv(scope: &mut Scope<'_>, run: &Run) -> Result<Vec<String>, Fault> {
    let argv: Vec<String> = match (&run.argv_of, run.argv.is_empty()) {
        (Some(list), true) => match scope.expression(list)? {
            Json::Array(items) => items.into_iter().map(argument).collect::<Result<_, _>>()?,
            _ => return Err(Fault::expression(format!("`{}` is not a list of arguments", list.0.trim()))),
        },
        _ => run.argv.iter().map(|argument| scope.template(argument)).collect::<Result<_, _>>()?,
    };
    if argv.first().is_none_or(|program| program.trim().is_empty()) {
        return Err(Fault::expression("there is no program to run"));
    }
    match argv.iter().any(|argument| argument.contains('\0')) {
        true => Err(Fault::expression("an argument contains a zero byte")),
        false => Ok(argv),
    }
}

fn argument(value: Json) -> Result<String, Fault> {
    match value {
        Json::String(text) => Ok(text),
        Json::Number(number) => Ok(number.to_string()),
        Json::Bool(value) => Ok(value.to_string()),
        _ => Err(Fault::expression("an argument is a text or a number")),
    }
}

/// The tasks; a text that stands for a list of tasks is replaced by them.
fn tasks(scope: &mut Scope<'_>, tasks: &[Json]) -> Result<Vec<Json>, Fault> {
    let mut made = Vec::new();
    for task in tasks {
        match scope.value(&Value(task.clone()))? {
            Json::Array(more) => made.extend(more),
            one => made.push(one),
        }
    }
    match made.iter().all(Json::is_object) && !made.is_empty() {
        true => Ok(made),
        false => Err(Fault::expression("there is no task, or one of them is no object")),
    }
}

fn event(scope: &mut Scope<'_>, wait: &Wait) -> Result<Work, Fault> {
    let Some(awaited) = &wait.event else { return Err(Fault::expression("it waits for nothing")) };
    let mut variables = Vec::new();
    if let Some(Expr(text)) = &awaited.matching {
        variables = eval::variables(text, eval::Kind::Expression)?;
        variables.retain(|variable| variable != "event" && !variable.starts_with("event."));
    }
    Ok(Work::Event { kind: awaited.kind.clone(), matching: awaited.matching.clone(), scope: scope.values(variables) })
}

fn ask(scope: &mut Scope<'_>, approve: &Approve, now: Timestamp) -> Result<Work, Fault> {
    let deadline = approve.deadline.map(|span| now.plus_millis(i64::try_from(span).unwrap_or(i64::MAX)));
    Ok(Work::Ask {
        question: scope.template(&approve.question)?,
        who: approve.who.iter().map(|name| scope.template(name)).collect::<Result<_, _>>()?,
        count: approve.count.max(1),
        not_starter: approve.not_starter,
        form: approve.form.clone(),
        deadline: deadline.map(|at| (at, approve.then)),
    })
}

fn place(scope: &mut Scope<'_>, place: &Place) -> Result<Workplace, Fault> {
    Ok(match place {
        Place::Shared => Workplace::Shared,
        Place::New => Workplace::New,
        Place::Of(step) => {
            Workplace::Of(scope.workspace_of(step).ok_or_else(|| Fault {
                kind: ErrorKind::Refused,
                message: format!("`{step}` has left no workspace"),
            })?)
        }
    })
}
