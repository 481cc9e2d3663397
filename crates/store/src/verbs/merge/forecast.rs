//! What would be tested next, without doing it.

use domain::{Action, ProjectId};
use engine::merge::{Search, WINDOW, order};
use protocol::{MergeForecast, MergeWhatIf};

use super::queue::target_of;
use super::rows::{self, Key};
use super::{load, settings, view};
use crate::verbs::projects;
use crate::{Caller, Store, StoreError};

impl Store {
    /// What would be tested next in a queue, and how long everything takes.
    pub async fn merge_forecast(
        &self,
        caller: &Caller,
        project: ProjectId,
        what: MergeWhatIf,
    ) -> Result<MergeForecast, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let found = projects::find(&mut c, caller, project, Action::See).await?;
        let within = |name: &'static str, value: Option<u32>, most: u32| match value {
            Some(value) if value == 0 || value > most => {
                Err(StoreError::invalid(name, format!("`{name}` is 1 to {most}")))
            }
            value => Ok(value),
        };
        let most = u32::try_from(WINDOW).unwrap_or(u32::MAX);
        let waiting = within("waiting", what.waiting, most)?;
        let failure = within("failure_percent", what.failure_percent, 99)?;
        let at_once = within("at_once", what.at_once, 8)?;
        let key = Key { project, target: target_of(&found, what.target.as_deref())? };
        let rules = settings::rules(&mut c, project).await?;
        let queue = rows::find_queue(&mut c, &key).await?;
        let (entries, rates, check_ms) = match &queue {
            Some(queue) => (load::facts(&mut c, queue, &rules).await?.entries, queue.rates, queue.check_ms),
            None => (Vec::new(), engine::merge::Rates::default(), None),
        };
        let failure = failure.map_or_else(|| rates.failure(), |percent| f64::from(percent) / 100.0);
        let at_once = at_once.unwrap_or(rules.settings.at_once);
        let search = Search::of(failure, usize::try_from(at_once).unwrap_or(1));
        let waiting = waiting.map_or(entries.len(), |waiting| usize::try_from(waiting).unwrap_or(WINDOW));
        let prefixes = search.prefixes(waiting, 0, usize::try_from(at_once).unwrap_or(1), &[]);
        let rounds = search.rounds(waiting, 0);
        Ok(MergeForecast {
            waiting: u32::try_from(waiting).unwrap_or(u32::MAX),
            failure_percent: view::percent(failure),
            at_once,
            prefixes: prefixes.into_iter().filter_map(|length| u32::try_from(length).ok()).collect(),
            rounds_percent: (rounds * 100.0).round() as u32,
            expected_ms: check_ms.map(|ms| (rounds * ms as f64) as u64),
            order: order(&entries, &[]),
        })
    }
}
