//! Ports for workspaces: ranges that never overlap. Pure; the caller stores the table.

use std::collections::BTreeMap;

use domain::WorkspaceId;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Ports that a workspace may listen on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PortRange {
    /// The first.
    pub first: u16,
    /// The last.
    pub last: u16,
}

impl PortRange {
    fn overlaps(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// Who has which ports.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ports {
    taken: BTreeMap<WorkspaceId, PortRange>,
}

impl Ports {
    /// Assigns a workspace `size` ports of `among`, the same ones when repeated.
    pub fn take(&mut self, id: WorkspaceId, among: PortRange, size: u16) -> Result<PortRange> {
        if let Some(range) = self.taken.get(&id) {
            return Ok(*range);
        }
        let full = || Error::NoPorts { size, first: among.first, last: among.last };
        if size == 0 || among.first == 0 || among.first > among.last {
            return Err(full());
        }
        let mut taken: Vec<PortRange> = self.taken.values().copied().filter(|range| range.overlaps(among)).collect();
        taken.sort_by_key(|range| range.first);
        let mut first = u32::from(among.first);
        for range in taken {
            if first + u32::from(size) <= u32::from(range.first) {
                break;
            }
            first = first.max(u32::from(range.last) + 1);
        }
        let last = first + u32::from(size) - 1;
        if last > u32::from(among.last) {
            return Err(full());
        }
        let narrow = |port: u32| u16::try_from(port).map_err(|_| full());
        let range = PortRange { first: narrow(first)?, last: narrow(last)? };
        self.taken.insert(id, range);
        Ok(range)
    }

    /// Releases the ports of a workspace.
    pub fn release(&mut self, id: WorkspaceId) {
        self.taken.remove(&id);
    }

    /// The ports of a workspace.
    pub fn of(&self, id: WorkspaceId) -> Option<PortRange> {
        self.taken.get(&id).copied()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_two_workspaces_share_a_port(
            steps in prop::collection::vec((0usize..12, 1u16..9, any::<bool>(), 0u16..30), 1..80)
        ) {
            let ids: Vec<WorkspaceId> = (0..12).map(|_| WorkspaceId::generate()).collect();
            let mut ports = Ports::default();
            for (who, size, give, shift) in steps {
                let among = PortRange { first: 65_480 + shift.min(20), last: 65_535 };
                if give {
                    ports.release(ids[who]);
                } else {
                    let had = ports.of(ids[who]);
                    match ports.take(ids[who], among, size) {
                        Ok(range) => prop_assert!(had.is_none_or(|had| had == range)),
                        // Refused only if there is no gap of that size.
                        Err(_) => {
                            let free = |port: u16| !ports.taken.values().any(|r| r.first <= port && port <= r.last);
                            let gap = (among.first..=among.last - (size - 1)).any(|f| (f..=f + (size - 1)).all(free));
                            prop_assert!(had.is_none() && !gap);
                        }
                    }
                }
                let all: Vec<PortRange> = ports.taken.values().copied().collect();
                for (n, a) in all.iter().enumerate() {
                    prop_assert!(all[n + 1..].iter().all(|b| !a.overlaps(*b)));
                }
            }
        }
    }

    #[test]
    fn the_table_of_ports_is_stored_and_read() {
        let mut ports = Ports::default();
        let id = WorkspaceId::generate();
        let range = ports.take(id, PortRange { first: 4000, last: 4099 }, 10).unwrap();
        assert_eq!(range, PortRange { first: 4000, last: 4009 });
        let text = serde_json::to_string(&ports).unwrap();
        assert_eq!(serde_json::from_str::<Ports>(&text).unwrap(), ports);
    }
}
