//! `shopfloor runner look`.

use client::Client;
use domain::RunnerId;
use protocol::{Call, LookAt, Me, PathSeen, Runner};

use crate::output::clean;
use crate::pick::pick;
use crate::{Context, Failure};

/// Shows what is at a path on a runner's machine.
pub(super) async fn run(path: &str, runner: Option<&str>, context: &Context) -> Result<(), Failure> {
    let client = &context.client()?;
    let runner = match runner {
        Some(runner) => pick::<Runner>(client, runner).await?,
        None => only(client).await?,
    };
    let seen: PathSeen = client.ask(Call::RunnerLook { runner, at: LookAt { path: from_here(path) } }).await?;
    context.out.show(&seen, |_| render(&seen))
}

/// A runner does not know our working directory.
fn from_here(path: &str) -> String {
    if path.starts_with(['/', '~']) {
        return path.to_owned();
    }
    let here = std::env::current_dir().map(|here| here.join(path));
    // `join` drops nothing: a final `/` asks for the folders inside.
    here.map_or_else(
        |_| path.to_owned(),
        |path| path.to_string_lossy().replace("/./", "/").trim_end_matches("/.").to_owned(),
    )
}

/// The caller's only connected runner.
async fn only(client: &Client) -> Result<RunnerId, Failure> {
    let me: Me = client.ask(Call::Me {}).await?;
    let runners: Vec<Runner> = client.ask(Call::RunnerList {}).await?;
    let mine = |runner: &&Runner| runner.connected && me.user.as_ref().is_some_and(|me| me.id == runner.owner.id);
    let mine: Vec<&Runner> = runners.iter().filter(mine).collect();
    match mine.as_slice() {
        [one] => Ok(one.id),
        [] => Err(Failure::unreachable("none of your runners is connected")
            .advise("start one with `shopfloor up` or `shopfloor runner`")),
        several => {
            let names: Vec<&str> = several.iter().map(|runner| runner.name.as_str()).collect();
            Err(Failure::usage("you have several connected runners")
                .advise(format!("pass --runner with one of: {}", names.join(", "))))
        }
    }
}

fn render(seen: &PathSeen) -> String {
    let mut lines = vec![match (&seen.repository, &seen.problem, seen.exists) {
        (Some(repository), ..) => {
            let branches = match (&repository.default_branch, repository.branches.len()) {
                (_, 0) => "no commits yet".to_owned(),
                (None, _) => repository.branches.join(", "),
                (Some(default), _) => {
                    let others = repository.branches.iter().filter(|branch| *branch != default);
                    let others: Vec<&str> = others.map(String::as_str).take(10).collect();
                    if others.is_empty() { default.clone() } else { format!("{default} (also {})", others.join(", ")) }
                }
            };
            format!("{}: a git repository; branches: {branches}", repository.root)
        }
        (None, Some(problem), _) => format!("{}: {problem}", seen.path),
        (None, None, true) => format!("{}: a folder, not a git repository", seen.path),
        (None, None, false) => format!("{}: not a folder", seen.path),
    }];
    let mark = |repository: bool| if repository { "  (repository)" } else { "" };
    lines.extend(seen.folders.iter().map(|folder| format!("  {}{}", folder.path, mark(folder.repository))));
    lines.extend(seen.more.then(|| "  … more".to_owned()));
    lines.iter().map(|line| clean(line)).collect::<Vec<_>>().join("\n")
}
