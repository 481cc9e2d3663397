//! `shopfloor upgrade --check`: compares what runs, what is installed and what was released.

mod installed;
mod releases;

use std::path::PathBuf;

use clap::Args;
use semver::Version;
use serde::Serialize;

use crate::here::Here;
use crate::table::{Cell, Style, fields};
use crate::{Context, Exit, Failure, Output};

use installed::{Manager, Way};
use releases::Index;

const AFTER: &str = "\
It changes nothing, and connects only to the hub of this machine and to the address of the index.
An index is a file such as `index.json` of `make package`; `release_index` in config.toml names one for every check.
The exit code is 0 if there is nothing to do, and 1 if there is.

Examples:
  shopfloor upgrade --check --index https://example.com/shopfloor/index.json";

/// Arguments of `upgrade`.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct UpgradeArgs {
    /// Only check; Shopfloor does not replace itself
    #[arg(long, required = true)]
    check: bool,
    /// The index of releases, a file or an address [env: SHOPFLOOR_RELEASE_INDEX]
    #[arg(long, value_name = "URL|FILE")]
    index: Option<String>,
}

/// What a check found.
#[derive(Debug, Serialize)]
struct Check {
    installed: Version,
    program: PathBuf,
    how: Way,
    /// The version of the hub that runs; absent: none runs here.
    running: Option<String>,
    /// The newest release; absent: no index is known, or it names no release.
    newest: Option<Version>,
    index: Option<String>,
    /// What to do, in this order.
    to_do: Vec<String>,
}

/// Compares the versions and says what to do.
pub(crate) async fn run(args: UpgradeArgs, context: &Context) -> Result<Exit, Failure> {
    let UpgradeArgs { check: _, index } = args;
    let program =
        std::env::current_exe().map_err(|error| Failure::other(format!("could not find this program: {error}")))?;
    let installed = Version::parse(env!("CARGO_PKG_VERSION"))
        .map_err(|error| Failure::other(format!("this build has no version: {error}")))?;
    let here = Here::look(&context.settings.data_dir.value).await?;
    let running = here.as_ref().and_then(|here| {
        let health = here.health.as_ref().map(|health| health.version.clone());
        health.or_else(|| here.file.version.clone())
    });
    let manager = here
        .as_ref()
        .filter(|here| here.has_process)
        .map_or(Manager::Nobody, |here| Manager::of_process(here.file.pid));
    let place = context.layers.text("release_index", index)?.map(|index| index.value);
    let newest = match &place {
        Some(place) => Index::read(place).await?.newest(&installed),
        None => None,
    };
    let how = Way::of(&program);
    let to_do = to_do(&installed, newest.as_ref(), running.as_deref(), how, manager, &program);
    let check = Check { installed, program, how, running, newest, index: place, to_do };
    context.out.show(&check, |out| text(&check, out))?;
    Ok(if check.to_do.is_empty() { Exit::Done } else { Exit::Other })
}

fn to_do(
    installed: &Version,
    newest: Option<&Version>,
    running: Option<&str>,
    how: Way,
    manager: Manager,
    program: &std::path::Path,
) -> Vec<String> {
    let newer = newest.filter(|newest| *newest > installed);
    let mut steps: Vec<String> = newer.map(|newest| how.install(newest, program)).into_iter().collect();
    // A hub keeps the program that it was started with.
    let differs = running.is_some_and(|running| Version::parse(running).ok().as_ref() != Some(installed));
    if running.is_some() && (differs || newer.is_some()) {
        steps.push(manager.restart().to_owned());
    }
    steps
}

fn text(check: &Check, out: &Output) -> String {
    let newest = match (&check.newest, &check.index) {
        (Some(newest), _) if *newest > check.installed => Cell::styled(newest.to_string(), Style::Yellow),
        (Some(newest), _) => newest.to_string().into(),
        (None, Some(_)) => "unknown: the index names no release".into(),
        (None, None) => "unknown: no index of releases is configured (--index URL|FILE, or release_index in \
                         config.toml)"
            .into(),
    };
    let pairs = [
        ("installed", format!("{} as {} ({})", check.installed, check.how.words(), check.program.display()).into()),
        ("running", check.running.as_deref().unwrap_or("no hub runs here").into()),
        ("newest", newest),
    ];
    let verdict = match check.to_do.as_slice() {
        [] if check.newest.is_some() => "Nothing to do: this is the newest version.".to_owned(),
        [] => "Nothing to do that is known here.".to_owned(),
        steps => {
            let steps: Vec<String> =
                steps.iter().enumerate().map(|(at, step)| format!("  {}. {step}", at + 1)).collect();
            format!("To do:\n{}", steps.join("\n"))
        }
    };
    format!("{}\n\n{verdict}", fields(out, &pairs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_what_to_do_and_nothing_more() {
        let version = |text: &str| Version::parse(text).unwrap();
        let path = std::path::Path::new("/usr/bin/shopfloor");
        let steps = |newest: Option<&str>, running: Option<&str>, manager| {
            to_do(&version("0.2.0"), newest.map(version).as_ref(), running, Way::Deb, manager, path)
        };
        assert!(steps(None, None, Manager::Nobody).is_empty());
        assert!(steps(Some("0.2.0"), Some("0.2.0"), Manager::Nobody).is_empty());
        assert!(steps(Some("0.1.9"), Some("0.2.0"), Manager::Nobody).is_empty(), "an older release is no upgrade");
        assert_eq!(
            steps(None, Some("0.1.0"), Manager::User),
            ["restart the hub: systemctl --user restart shopfloor"],
            "installed, but not running"
        );
        let both = steps(Some("0.10.0"), Some("0.2.0"), Manager::Nobody);
        assert_eq!(
            both,
            [
                "install it: sudo apt install ./shopfloor_0.10.0_amd64.deb",
                "restart the hub: shopfloor down && shopfloor up --background"
            ]
        );
        assert_eq!(steps(Some("0.3.0"), None, Manager::Nobody).len(), 1, "nothing runs");
    }
}
