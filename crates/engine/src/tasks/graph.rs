//! The dependency graph of tasks: topological order, and cycles by name.

use std::collections::HashMap;
use std::hash::Hash;

/// A cycle of tasks: each depends on the next, and the last on the first.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("these tasks depend on each other in a cycle: {}", cycle_text(.0))]
pub struct Cycle<T: std::fmt::Display>(pub Vec<T>);

fn cycle_text<T: std::fmt::Display>(tasks: &[T]) -> String {
    let first = tasks.first().map(ToString::to_string);
    tasks.iter().map(ToString::to_string).chain(first).collect::<Vec<_>>().join(" → ")
}

/// A topological order of the tasks, dependencies first, or a cycle.
///
/// Dependencies outside `tasks` exist already and cannot lead back.
pub fn sort<T: Copy + Eq + Hash + std::fmt::Display>(tasks: &[(T, Vec<T>)]) -> Result<Vec<T>, Cycle<T>> {
    let deps: HashMap<T, &[T]> = tasks.iter().map(|(task, deps)| (*task, deps.as_slice())).collect();
    let mut marks: HashMap<T, Mark> = HashMap::with_capacity(tasks.len());
    let mut sorted = Vec::with_capacity(tasks.len());
    for (task, _) in tasks {
        visit(*task, &deps, &mut marks, &mut sorted)?;
    }
    Ok(sorted)
}

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    OnPath,
    Sorted,
}

/// Visits iteratively: a chain of a hundred thousand tasks must not overflow the stack.
fn visit<T: Copy + Eq + Hash + std::fmt::Display>(
    start: T,
    deps: &HashMap<T, &[T]>,
    marks: &mut HashMap<T, Mark>,
    sorted: &mut Vec<T>,
) -> Result<(), Cycle<T>> {
    if marks.contains_key(&start) {
        return Ok(());
    }
    let mut path = vec![(start, 0)];
    marks.insert(start, Mark::OnPath);
    while let Some((task, next)) = path.last_mut() {
        let Some(dep) = deps.get(task).and_then(|deps| deps.get(*next)).copied() else {
            marks.insert(*task, Mark::Sorted);
            sorted.push(*task);
            path.pop();
            continue;
        };
        *next += 1;
        match marks.get(&dep) {
            Some(Mark::OnPath) => {
                let begin = path.iter().position(|(on, _)| *on == dep).unwrap_or(0);
                return Err(Cycle(path[begin..].iter().map(|(on, _)| *on).collect()));
            }
            None if deps.contains_key(&dep) => {
                marks.insert(dep, Mark::OnPath);
                path.push((dep, 0));
            }
            Some(Mark::Sorted) | None => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_cycle_is_named() {
        let error = sort(&[("a", vec!["b"]), ("b", vec!["c"]), ("c", vec!["b"])]).unwrap_err();
        assert_eq!(error.to_string(), "these tasks depend on each other in a cycle: b → c → b");
        let error = sort(&[("a", vec!["a"])]).unwrap_err();
        assert_eq!(error.to_string(), "these tasks depend on each other in a cycle: a → a");
        assert_eq!(sort(&[("a", vec!["elsewhere"])]), Ok(vec!["a"]));
    }

    #[test]
    fn a_long_chain_is_no_deep_call() {
        let tasks: Vec<(u32, Vec<u32>)> = (0..100_000).map(|task| (task, vec![task + 1])).collect();
        assert_eq!(sort(&tasks).unwrap().len(), 100_000);
    }

    proptest! {
        #[test]
        fn sorted_or_truly_cyclic(edges in proptest::collection::vec((0u8..12, 0u8..12), 0..40)) {
            let tasks: Vec<(u8, Vec<u8>)> = (0..12)
                .map(|task| (task, edges.iter().filter(|(from, _)| *from == task).map(|(_, to)| *to).collect()))
                .collect();
            match sort(&tasks) {
                Ok(order) => {
                    prop_assert_eq!(order.len(), 12);
                    let place = |task: u8| order.iter().position(|at| *at == task);
                    for (task, dep) in &edges {
                        prop_assert!(place(*dep) < place(*task));
                    }
                }
                Err(Cycle(cycle)) => {
                    for (index, task) in cycle.iter().enumerate() {
                        let next = cycle[(index + 1) % cycle.len()];
                        prop_assert!(edges.contains(&(*task, next)), "{:?}", cycle);
                    }
                }
            }
        }
    }
}
