//! The agents that recipes and profiles may name: those that an adapter of any runner knows.

use std::collections::BTreeSet;

use domain::near;
use engine::recipes::model::{Action, Recipe};
use protocol::RunnerAbout;

use crate::StoreError;
use crate::sql::{Connection, args};

/// What every runner runs without an adapter.
const EVERYWHERE: [&str; 2] = ["command", "shell"];

/// The names of all known agents; `None` while no runner has said what it knows.
async fn known(c: &mut Connection<'_>) -> Result<Option<BTreeSet<String>>, StoreError> {
    let mut found = BTreeSet::new();
    for row in c.all("SELECT about FROM runners WHERE about IS NOT NULL", args![]).await? {
        let about: RunnerAbout = row.json("about")?;
        found.extend(about.agents.into_iter().map(|agent| agent.name));
    }
    Ok((!found.is_empty()).then_some(found))
}

/// Refuses an agent that no adapter knows.
pub(super) async fn check(c: &mut Connection<'_>, agent: &str) -> Result<(), StoreError> {
    match known(c).await? {
        Some(known) => refuse_unknown(&known, agent).map_err(|why| StoreError::invalid("agent", why)),
        None => Ok(()),
    }
}

/// Refuses a recipe with a step for an agent that no adapter knows. A name that an expression yields is not known yet.
pub(super) async fn check_all(c: &mut Connection<'_>, recipe: &Recipe) -> Result<(), StoreError> {
    let named = named(recipe);
    let known = if named.is_empty() { None } else { known(c).await? };
    let Some(known) = known else { return Ok(()) };
    for (step, agent) in named {
        refuse_unknown(&known, agent).map_err(|why| StoreError::invalid("text", format!("step `{step}`: {why}")))?;
    }
    Ok(())
}

/// The steps that name an agent without an expression.
fn named(recipe: &Recipe) -> Vec<(&str, &str)> {
    recipe
        .all_steps()
        .into_iter()
        .filter_map(|step| match &step.action {
            Action::Agent(agent) => Some((step.id.as_str(), agent.agent.as_ref()?.0.trim())),
            _ => None,
        })
        .filter(|(_, agent)| !agent.contains("{{") && !agent.contains("{%"))
        .collect()
}

fn refuse_unknown(known: &BTreeSet<String>, agent: &str) -> Result<(), String> {
    if known.contains(agent) || EVERYWHERE.contains(&agent) {
        return Ok(());
    }
    let hint = near::hint(agent, known.iter().map(String::as_str));
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let shown: String = agent.chars().take(80).collect();
    Err(format!("unknown agent `{shown}`{hint} (known: {})", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_agent_is_refused_with_the_nearest_name() {
        let known: BTreeSet<String> = ["claude", "codex"].map(str::to_owned).into();
        assert_eq!(refuse_unknown(&known, "codex"), Ok(()));
        assert_eq!(refuse_unknown(&known, "command"), Ok(()));
        let why = "unknown agent `codx`; did you mean `codex`? (known: claude, codex)";
        assert_eq!(refuse_unknown(&known, "codx"), Err(why.to_owned()));
        let why = "unknown agent `nonesuch` (known: claude, codex)";
        assert_eq!(refuse_unknown(&known, "nonesuch"), Err(why.to_owned()));
    }
}
