//! `shopfloor task graph`: dependencies as a tree or for Graphviz.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use domain::{TaskId, TaskStatus};
use protocol::TaskLine;

use super::args::GraphArgs;
use crate::commands::words;
use crate::output::clean;
use crate::table::{Style, shorten};
use crate::{Context, Failure, Output};

/// Maximum width of the branches before a task, in bytes.
const DEEPEST: usize = 200;

/// Draws the graph.
pub(crate) async fn run(args: GraphArgs, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    let filter = args.scope.filter(client).await?;
    let mut tasks = super::all(client, filter).await?;
    if let Some(task) = &args.task {
        let around = around(&tasks, crate::pick::choose(&tasks, task)?);
        tasks.retain(|task| around.contains(&task.id));
    }
    out.show(&tasks, |out| if args.dot { dot(&tasks) } else { tree(&tasks, out) })
}

/// A task with its transitive dependencies and dependants.
fn around(tasks: &[TaskLine], task: TaskId) -> HashSet<TaskId> {
    let mut down: HashMap<TaskId, &[TaskId]> = HashMap::new();
    let mut up: HashMap<TaskId, Vec<TaskId>> = HashMap::new();
    for line in tasks {
        down.insert(line.id, &line.deps);
        line.deps.iter().for_each(|dep| up.entry(*dep).or_default().push(line.id));
    }
    let mut found = HashSet::from([task]);
    let reach = |next: &dyn Fn(TaskId) -> Vec<TaskId>, found: &mut HashSet<TaskId>| {
        let mut seen = HashSet::from([task]);
        let mut open = vec![task];
        while let Some(at) = open.pop() {
            open.extend(next(at).into_iter().filter(|next| seen.insert(*next)));
        }
        found.extend(seen);
    };
    reach(&|at| down.get(&at).map(|deps| deps.to_vec()).unwrap_or_default(), &mut found);
    reach(&|at| up.get(&at).cloned().unwrap_or_default(), &mut found);
    found
}

/// Tasks without dependants, with their dependencies below them; a task that was shown before is only named.
fn tree(tasks: &[TaskLine], out: &Output) -> String {
    if tasks.is_empty() {
        return Style::Dim.paint("no tasks; add some with `shopfloor task add`", out.color);
    }
    let by_id: HashMap<TaskId, &TaskLine> = tasks.iter().map(|task| (task.id, task)).collect();
    let awaited: HashSet<TaskId> = tasks.iter().flat_map(|task| task.deps.iter().copied()).collect();
    let mut shown: HashSet<TaskId> = HashSet::new();
    let mut lines = Vec::new();
    // Without recursion: a chain may be very long.
    let roots = tasks.iter().filter(|task| !awaited.contains(&task.id));
    for root in roots {
        let mut open: Vec<(&TaskLine, String, &str)> = vec![(root, String::new(), "")];
        while let Some((task, before, branch)) = open.pop() {
            let again = !shown.insert(task.id);
            lines.push(format!("{before}{branch}{}", node(task, again && !task.deps.is_empty(), out)));
            if again {
                continue;
            }
            let below = match branch {
                "" => String::new(),
                // A chain of thousands must not grow to the right forever.
                _ if before.len() > DEEPEST => before.clone(),
                "└─ " => format!("{before}   "),
                _ => format!("{before}│  "),
            };
            let known: Vec<&TaskLine> = task.deps.iter().filter_map(|dep| by_id.get(dep).copied()).collect();
            for (at, dep) in known.iter().enumerate().rev() {
                open.push((dep, below.clone(), if at + 1 == known.len() { "└─ " } else { "├─ " }));
            }
        }
    }
    lines
        .iter()
        .map(|line| out.width.map_or_else(|| line.clone(), |width| cut(line, width)))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Escape sequences have no width, so only plain lines can be cut.
fn cut(line: &str, width: usize) -> String {
    if line.contains('\x1b') { line.to_owned() } else { shorten(line, width) }
}

fn node(task: &TaskLine, again: bool, out: &Output) -> String {
    let status = format!("{} {}", words::sign(task.status), task.status);
    let status = words::task_style(task.status).paint(&status, out.color);
    let title = clean(&task.title).replace(['\n', '\t'], " ");
    let short = Style::Dim.paint(&task.short, out.color);
    format!("{status}  {title}  {short}{}", if again { " (see above)" } else { "" })
}

fn dot(tasks: &[TaskLine]) -> String {
    let mut text =
        String::from("digraph tasks {\n  rankdir=LR;\n  node [shape=box, style=\"rounded,filled\", fontname=sans];\n");
    for task in tasks {
        let label =
            format!("{} {}\n{}", task.short, shorten(&clean(&task.title).replace(['\n', '\t'], " "), 40), task.status);
        // Writing into a string cannot fail.
        let _ = writeln!(text, "  {} [label={}, fillcolor=\"{}\"];", task.id, quoted(&label), fill(task.status));
    }
    for task in tasks {
        for dep in &task.deps {
            let _ = writeln!(text, "  {dep} -> {};", task.id);
        }
    }
    text.push('}');
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

fn fill(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::Blocked | TaskStatus::Cancelled => "#e5e7eb",
        TaskStatus::Ready => "#ffffff",
        TaskStatus::Assigned | TaskStatus::Running | TaskStatus::Reported | TaskStatus::Validating => "#bfdbfe",
        TaskStatus::Done => "#bbf7d0",
        TaskStatus::Failed => "#fecaca",
        TaskStatus::Escalated => "#fde68a",
    }
}

#[cfg(test)]
mod tests {
    use super::super::watch::sample;
    use super::*;

    fn out() -> Output {
        Output { json: false, color: false, width: None, now: domain::Timestamp::from_millis(0) }
    }

    #[test]
    fn a_graph_is_a_tree_with_everything_once() {
        let lexer = sample("lexer", TaskStatus::Done, &[]);
        let parser = sample("parser \u{1b}x", TaskStatus::Running, &[lexer.id]);
        let docs = sample("docs", TaskStatus::Blocked, &[parser.id, lexer.id]);
        let release = sample("release", TaskStatus::Blocked, &[docs.id, parser.id]);
        let alone = sample("alone", TaskStatus::Ready, &[TaskId::generate()]);
        let mut tasks = [lexer, parser, docs, release, alone];
        for (at, task) in tasks.iter_mut().enumerate() {
            task.short = format!("CALC-{at}");
        }
        let text = tree(&tasks, &out());
        assert_eq!(
            text,
            "⊘ blocked  release  CALC-3\n\
             ├─ ⊘ blocked  docs  CALC-2\n\
             │  ├─ ◑ running  parser \u{FFFD}x  CALC-1\n\
             │  │  └─ ● done  lexer  CALC-0\n\
             │  └─ ● done  lexer  CALC-0\n\
             └─ ◑ running  parser \u{FFFD}x  CALC-1 (see above)\n\
             ○ ready  alone  CALC-4"
        );
        let found = around(&tasks, tasks[1].id);
        assert_eq!(found.len(), 4, "dependencies and dependants");
    }

    #[test]
    fn labels_are_escaped_for_graphviz() {
        let lexer = sample("say \"hi\" \\", TaskStatus::Done, &[]);
        let parser = sample("parser", TaskStatus::Failed, &[lexer.id]);
        let text = dot(&[lexer.clone(), parser.clone()]);
        assert!(text.contains(&format!("{} [label=\"CALC-1 say \\\"hi\\\" \\\\\\ndone\"", lexer.id)), "{text}");
        assert!(text.contains(&format!("  {} -> {};\n", lexer.id, parser.id)) && text.ends_with('}'), "{text}");
    }

    #[test]
    fn a_long_chain_needs_no_deep_stack() {
        let mut tasks = vec![sample("0", TaskStatus::Ready, &[])];
        for at in 1..20_000 {
            let before = tasks[at - 1].id;
            tasks.push(sample("n", TaskStatus::Blocked, &[before]));
        }
        assert_eq!(around(&tasks, tasks[0].id).len(), 20_000);
        assert!(tree(&tasks[..2_000], &out()).lines().count() == 2_000);
    }
}
