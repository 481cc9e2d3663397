//! Tasks that depend on each other, with an acceptance that only real work meets.

use protocol::{Criterion, TaskAdd};
use rand::Rng;
use rand::rngs::StdRng;

/// What a scripted agent does for a task: takes its time, writes the file that is asked for, commits it, and says so in
/// prose. It also notes each piece of work outside of everything, so that a test can count.
pub(crate) const AGENT: &str = r#"
set -eu
name=$(sed -n 's/.*Make the file `out\/\([a-z0-9-]*\)\.txt`.*/\1/p' "$SHOPFLOOR_BRIEF_FILE" | head -n 1)
echo "$SHOPFLOOR_TASK $SHOPFLOOR_FENCE $name" >> "$1"
sleep "${2:-0.$(( ($$ % 7) + 1 ))}"
mkdir -p out
echo "the work of $name" > "out/$name.txt"
git add "out/$name.txt"
git -c user.name=agent -c user.email=agent@example.org commit -q -m "$name" || git diff --quiet HEAD -- out
echo "I made out/$name.txt and committed it."
"#;

/// This many independent tasks.
pub(crate) fn independent(random: &mut StdRng, count: usize) -> Vec<TaskAdd> {
    let free = |task: TaskAdd| TaskAdd { deps: Vec::new(), ..task };
    graph(random, count).into_iter().map(free).collect()
}

/// This many tasks, each depending on a few earlier ones.
pub(crate) fn graph(random: &mut StdRng, count: usize) -> Vec<TaskAdd> {
    (0..count).map(|number| task(random, number)).collect()
}

fn task(random: &mut StdRng, number: usize) -> TaskAdd {
    let name = format!("part-{number}");
    let path = format!("out/{name}.txt");
    let mut deps: Vec<String> = Vec::new();
    // Wide rather than deep: a third has none, the others reach back a little.
    if number > 4 && !random.random_ratio(1, 3) {
        for _ in 0..random.random_range(1..=2) {
            let dep = format!("part-{}", random.random_range(number.saturating_sub(12)..number));
            if !deps.contains(&dep) {
                deps.push(dep);
            }
        }
    }
    TaskAdd {
        id: Some(name.clone()),
        description: format!("Make the file `{path}`"),
        acceptance: vec![
            Criterion::FileMatches {
                path,
                regex: Some(format!("^the work of {name}$")),
                not_regex: None,
                min_words: None,
                json_schema: None,
                parses: None,
            },
            Criterion::Committed {},
        ],
        deps,
        priority: Some(random.random_range(0..=9)),
        ..Default::default()
    }
}
