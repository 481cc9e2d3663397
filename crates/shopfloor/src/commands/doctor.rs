//! `shopfloor doctor`: checks the installation and says how to fix problems.

mod data_dir;
mod database;
mod network;
mod programs;
mod runner;
mod sandbox;

pub(crate) use database::file as database_file;

use serde::Serialize;

use super::serve_args::ServeArgs;
use crate::output::clean;
use crate::table::Style;
use crate::{Context, Exit, Failure, Output, hub_file};

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    /// Fine.
    Ok,
    /// Works, but should be changed.
    Warn,
    /// Missing or broken.
    Missing,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Check {
    name: String,
    status: Status,
    /// Whether Shopfloor cannot work without it.
    required: bool,
    detail: String,
    /// How to fix it.
    advice: Option<String>,
}

impl Check {
    fn ok(name: &str, detail: impl Into<String>) -> Self {
        Self { name: name.to_owned(), status: Status::Ok, required: false, detail: detail.into(), advice: None }
    }

    fn warn(name: &str, detail: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { status: Status::Warn, advice: Some(advice.into()), ..Self::ok(name, detail) }
    }

    fn missing(name: &str, detail: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { status: Status::Missing, ..Self::warn(name, detail, advice) }
    }

    /// Marks a check that Shopfloor cannot work without.
    fn required(self) -> Self {
        Self { required: true, ..self }
    }

    fn is_broken(&self) -> bool {
        self.required && self.status == Status::Missing
    }
}

/// Runs all checks; the exit code is not 0 if something required is broken.
pub(crate) async fn run(context: &Context) -> Result<Exit, Failure> {
    let data_dir = &context.settings.data_dir.value;
    let serve = ServeArgs::default().settle(&context.layers, data_dir)?;
    // The check of the data directory reports an unreadable file.
    let beside = hub_file::read_hub(data_dir).ok().flatten();
    let health = network::health(beside.as_ref()).await;
    let mut checks = programs::check_all(context.layers.path().and_then(std::path::Path::parent)).await;
    checks.extend(sandbox::check(context).await?);
    checks.extend(data_dir::check(data_dir));
    checks.push(database::check(&serve.database.value, beside.as_ref(), health.as_ref()).await);
    checks.push(network::check_port(serve.listen.value, beside.as_ref(), health.is_some()));
    checks.push(network::check_hub(context, beside.as_ref(), health.as_ref()).await);
    checks.extend(runner::check(context).await);
    context.out.show(&checks, |out| lines(&checks, out))?;
    Ok(if checks.iter().any(Check::is_broken) { Exit::Other } else { Exit::Done })
}

fn lines(checks: &[Check], out: &Output) -> String {
    let line = |check: &Check| {
        let (word, style) = match check.status {
            Status::Ok => ("ok", Style::Green),
            Status::Warn => ("warn", Style::Yellow),
            Status::Missing if check.required => ("missing", Style::Red),
            Status::Missing => ("missing", Style::Yellow),
        };
        let status = style.paint(&format!("{word:<7}"), out.color);
        let advice = check.advice.as_ref().map(|advice| format!("\n{:26}fix: {}", "", clean(advice)));
        format!("{status}  {:<15}  {}{}", check.name, clean(&check.detail), advice.unwrap_or_default())
    };
    checks.iter().map(line).collect::<Vec<_>>().join("\n")
}
