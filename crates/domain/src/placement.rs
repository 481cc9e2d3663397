//! Chooses a runner for a session. Pure: the caller brings the facts.

use crate::RunnerId;
use crate::text::counted;

/// The facts about a runner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The runner.
    pub runner: RunnerId,
    /// Its name.
    pub name: String,
    /// Whether it is connected.
    pub connected: bool,
    /// Why it cannot record facts, if it cannot.
    pub trouble: Option<String>,
    /// Its labels.
    pub labels: Vec<String>,
    /// The agents that are installed there; empty if it was never connected.
    pub agents: Vec<String>,
    /// Missing agents, each with the command that installs it; empty if none is known.
    pub installs: Vec<(String, String)>,
    /// How many sessions it runs at once.
    pub capacity: u32,
    /// How many it has now.
    pub sessions: u32,
}

/// What a session needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs<'a> {
    /// The only acceptable runner, if one was named.
    pub runner: Option<RunnerId>,
    /// The adapter.
    pub agent: &'a str,
    /// Labels that the runner must have.
    pub labels: &'a [String],
}

/// The least loaded runner that fits, or why none does.
pub fn place(needs: Needs<'_>, candidates: &[Candidate]) -> Result<RunnerId, String> {
    if candidates.is_empty() {
        return Err(
            "you have no runner: `shopfloor up` starts one, and `shopfloor runner create NAME` registers one".into()
        );
    }
    let named = || candidates.iter().filter(|candidate| needs.runner.is_none_or(|runner| runner == candidate.runner));
    if let Some(unknown) = unknown_agent(needs.agent, named()) {
        return Err(unknown);
    }
    let fitting = candidates.iter().filter(|candidate| why_not(needs, candidate).is_none());
    // By relative load, then by name, so that the choice does not depend on an order.
    let load = |candidate: &Candidate| u64::from(candidate.sessions) * 1_000 / u64::from(candidate.capacity.max(1));
    if let Some(chosen) = fitting.min_by_key(|candidate| (load(candidate), candidate.name.clone(), candidate.runner)) {
        return Ok(chosen.runner);
    }
    let reasons: Vec<String> =
        named().filter_map(|candidate| Some(format!("`{}` {}", candidate.name, why_not(needs, candidate)?))).collect();
    match reasons.is_empty() {
        true => Err("this is not one of your runners".into()),
        false => Err(format!("none of your runners can run it: {}", reasons.join("; "))),
    }
}

impl Candidate {
    /// The agents that it knows, installed or not.
    fn known(&self) -> impl Iterator<Item = &str> {
        self.agents.iter().chain(self.installs.iter().map(|(agent, _)| agent)).map(String::as_str)
    }

    /// That an agent is not installed there, and how to install it.
    fn lacks(&self, agent: &str) -> String {
        match self.installs.iter().find(|(missing, command)| missing == agent && !command.is_empty()) {
            Some((_, command)) => format!("has no `{agent}` installed (install it there with `{command}`)"),
            None => format!("has no `{agent}` installed"),
        }
    }
}

/// That none of these runners knows an agent, with those that they know; `None` if one does or may.
pub fn unknown_agent<'a>(agent: &str, runners: impl IntoIterator<Item = &'a Candidate>) -> Option<String> {
    let mut known: Vec<&str> = Vec::new();
    for runner in runners {
        // A runner that was never connected has not said what it knows.
        runner.known().next()?;
        for one in runner.known() {
            if !known.contains(&one) {
                known.push(one);
            }
        }
    }
    let unknown = !known.is_empty() && !known.contains(&agent);
    unknown.then(|| format!("unknown agent `{agent}`; known: {}", known.join(", ")))
}

/// Why an agent cannot run on a runner: nobody knows it, or it is not installed there; `None` if it is.
pub fn missing_agent(agent: &str, runner: &Candidate) -> Option<String> {
    if runner.agents.iter().any(|known| known == agent) {
        return None;
    }
    let lacks = || format!("its runner `{}` {}", runner.name, runner.lacks(agent));
    Some(unknown_agent(agent, [runner]).unwrap_or_else(lacks))
}

fn why_not(needs: Needs<'_>, candidate: &Candidate) -> Option<String> {
    if needs.runner.is_some_and(|runner| runner != candidate.runner) {
        return Some("is another runner".into());
    }
    if !candidate.connected {
        return Some("is not connected".into());
    }
    if let Some(why) = &candidate.trouble {
        return Some(format!("cannot work now: {why}"));
    }
    if let Some(missing) = needs.labels.iter().find(|label| !candidate.labels.contains(label)) {
        return Some(format!("has no label `{missing}`"));
    }
    if !candidate.agents.iter().any(|agent| agent == needs.agent) {
        return Some(candidate.lacks(needs.agent));
    }
    let full = || format!("is full, with {}", counted(candidate.sessions, "session", "sessions"));
    (candidate.sessions >= candidate.capacity).then(full)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn candidate(name: &str, sessions: u32) -> Candidate {
        Candidate {
            runner: RunnerId::generate(),
            name: name.into(),
            connected: true,
            trouble: None,
            labels: vec!["linux".into()],
            agents: vec!["codex".into(), "shell".into()],
            installs: vec![("claude".into(), "npm install claude".into())],
            capacity: 4,
            sessions,
        }
    }

    fn needs<'a>() -> Needs<'a> {
        Needs { runner: None, agent: "codex", labels: &[] }
    }

    #[test]
    fn the_least_loaded_that_fits_is_chosen_and_a_refusal_names_every_reason() {
        let busy = candidate("busy", 3);
        let idle = candidate("idle", 1);
        let away = Candidate { connected: false, ..candidate("away", 0) };
        let full = Candidate { trouble: Some("its disk is full".into()), ..candidate("full", 0) };
        let all = [busy.clone(), idle.clone(), away.clone(), full.clone()];
        assert_eq!(place(needs(), &all), Ok(idle.runner));
        assert_eq!(place(Needs { runner: Some(busy.runner), ..needs() }, &all), Ok(busy.runner));
        let error = place(Needs { runner: Some(full.runner), ..needs() }, &all).unwrap_err();
        assert!(error.contains("`full` cannot work now: its disk is full"), "{error}");
        let error = place(Needs { agent: "gemini", ..needs() }, &all).unwrap_err();
        assert_eq!(error, "unknown agent `gemini`; known: codex, shell, claude");
        let knows = Candidate { agents: vec!["gemini".into()], capacity: 0, ..candidate("knows", 0) };
        let error = place(Needs { agent: "gemini", ..needs() }, &[busy.clone(), knows]).unwrap_err();
        assert!(error.contains("`busy` has no `gemini` installed; `knows` is full"), "{error}");
        let new = Candidate { connected: false, agents: Vec::new(), installs: Vec::new(), ..candidate("new", 0) };
        let error = place(Needs { agent: "gemini", ..needs() }, &[busy.clone(), new]).unwrap_err();
        assert!(error.contains("`busy` has no `gemini` installed; `new` is not connected"), "{error}");
        assert_eq!(missing_agent("codex", &idle), None);
        let said = missing_agent("claude", &idle).unwrap();
        assert_eq!(said, "its runner `idle` has no `claude` installed (install it there with `npm install claude`)");
        let said = missing_agent("nonesuch", &idle).unwrap();
        assert_eq!(said, "unknown agent `nonesuch`; known: codex, shell, claude");
        let error = place(Needs { agent: "claude", ..needs() }, &all).unwrap_err();
        assert!(
            error.contains("`idle` has no `claude` installed (install it there with `npm install claude`)"),
            "{error}"
        );
        let error = place(Needs { runner: Some(away.runner), ..needs() }, &all).unwrap_err();
        assert!(error.contains("`away` is not connected") && !error.contains("busy"), "{error}");
        assert!(place(needs(), &[candidate("full", 4)]).unwrap_err().contains("full"));
        let gpu = ["gpu".to_owned()];
        assert!(place(Needs { labels: &gpu, ..needs() }, &all).unwrap_err().contains("no label `gpu`"));
        assert!(place(needs(), &[]).unwrap_err().contains("no runner"));
        assert!(place(Needs { runner: Some(RunnerId::generate()), ..needs() }, &all).is_err());
    }

    proptest! {
        #[test]
        fn a_chosen_runner_always_has_room(loads in proptest::collection::vec((0u32..6, any::<bool>()), 0..8)) {
            let all: Vec<Candidate> = loads
                .iter()
                .map(|(sessions, connected)| Candidate { connected: *connected, ..candidate("r", *sessions) })
                .collect();
            match place(needs(), &all) {
                Ok(runner) => {
                    let chosen = all.iter().find(|candidate| candidate.runner == runner).unwrap();
                    prop_assert!(chosen.connected && chosen.sessions < chosen.capacity);
                    let least = all.iter().filter(|c| c.connected).map(|c| c.sessions).min();
                    prop_assert_eq!(Some(chosen.sessions), least);
                }
                Err(_) => prop_assert!(all.iter().all(|c| !c.connected || c.sessions >= c.capacity)),
            }
        }
    }
}
