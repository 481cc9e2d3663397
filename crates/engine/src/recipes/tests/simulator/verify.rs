//! What holds after a run.

use std::collections::BTreeMap;

use super::hub::Sim;
use crate::recipes::*;

/// The first rule that does not hold.
pub(super) fn all(sim: &Sim) -> Result<(), String> {
    for ((row, path, attempt), (times, once)) in &sim.log {
        if *once && *times > 1 {
            return Err(format!("e{row}/{path}/{attempt} was done {times} times"));
        }
    }
    for row in &sim.rows {
        let again = replay(row.new.clone(), &row.history).map_err(|(at, why)| format!("history, event {at}: {why}"))?;
        let differences = differences(&row.state, &again);
        if again != row.state {
            return Err(format!("the history decides something else: {}", differences.join("; ")));
        }
        once(row.new.clone(), &row.history)?;
        if row.state.status.is_over() && (!row.outbox.is_empty() || !row.timers.is_empty()) {
            return Err(format!("it is over, and {:?} and {:?} are left", row.outbox, row.timers));
        }
    }
    Ok(())
}

/// Each attempt begins once, and has one result.
fn once(new: Execution, history: &[(domain::Timestamp, Event)]) -> Result<(), String> {
    let (mut execution, mut begun) = (new, BTreeMap::new());
    let mut ended: BTreeMap<(Path, u32), u32> = BTreeMap::new();
    for (now, event) in history {
        let decided = step(&execution, event, *now).map_err(|why| why.0)?;
        for effect in &decided.effects {
            if let Effect::Begin { path, attempt, .. } = effect
                && begun.insert((path.clone(), *attempt), ()).is_some()
            {
                return Err(format!("{path}/{attempt} begins twice"));
            }
        }
        if let Event::Ended { path, attempt, .. } = event
            && decided.execution != execution
        {
            *ended.entry((path.clone(), *attempt)).or_default() += 1;
        }
        execution = decided.execution;
    }
    match ended.iter().find(|(_, times)| **times > 1) {
        Some(((path, attempt), times)) => Err(format!("{path}/{attempt} has {times} results")),
        None => Ok(()),
    }
}
