//! Bars for each status and the running tasks, redrawn in place.

use domain::TaskStatus;
use engine::tasks::tally::tally;
use unicode_width::UnicodeWidthStr;

use super::board::Board;
use crate::commands::words;
use crate::output::clean;
use crate::table::{Style, shorten};
use crate::{Failure, Output};

const WIDEST: usize = 50;
const NAME: usize = 12;

/// What is drawn now.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    lines: usize,
}

impl Screen {
    /// Replaces what was drawn.
    pub(crate) fn show(&mut self, lines: &[String], out: &Output) -> Result<(), Failure> {
        let mut text = self.up();
        text.push_str(&lines.join("\n"));
        text.push('\n');
        self.lines = lines.len();
        out.bytes(text.as_bytes())
    }

    /// Erases the last drawing.
    pub(crate) fn clear(&mut self, out: &Output) -> Result<(), Failure> {
        let text = self.up();
        self.lines = 0;
        out.bytes(text.as_bytes())
    }

    fn up(&self) -> String {
        if self.lines == 0 { String::new() } else { format!("\x1b[{}A\x1b[J", self.lines) }
    }
}

/// The lines for a terminal of this width and height.
pub(crate) fn lines(board: &Board, (width, rows): (usize, usize), out: &Output) -> Vec<String> {
    let total = board.len();
    let room = width.saturating_sub(NAME + 10).clamp(4, WIDEST);
    let mut lines: Vec<String> = TaskStatus::ALL
        .iter()
        .map(|status| (*status, board.count(*status)))
        .filter(|(_, count)| *count > 0)
        .map(|(status, count)| {
            let name = format!("{} {status:<width$}", words::sign(status), width = NAME - 2);
            let bar = bar(count, total, room);
            let style = match words::task_style(status) {
                Style::Dim if status == TaskStatus::Done => Style::Green,
                style => style,
            };
            format!("{name} {} {count:>6}", style.paint(&bar, out.color))
        })
        .collect();
    let tally = tally(TaskStatus::ALL.iter().map(|status| (*status, board.count(*status))));
    lines.push(Style::Bold.paint(&words::progress(tally), out.color));
    // The last line stays free for the cursor.
    let left = rows.saturating_sub(lines.len() + 2);
    let held: Vec<_> = board.held().collect();
    for (task, worker) in held.iter().take(left) {
        let (name, style) = match worker {
            Some(worker) => (worker.name.as_str(), Style::Worker(worker.colour)),
            None => ("-", Style::Dim),
        };
        let name = shorten(&clean(name).replace(['\n', '\t'], " "), NAME);
        let gap = " ".repeat(NAME.saturating_sub(name.width()));
        let progress = task.progress.as_ref().map(|progress| format!(": {progress}")).unwrap_or_default();
        let text = clean(&format!("{} {} {}{progress}", words::sign(task.status), task.short, task.title))
            .replace(['\n', '\t'], " ");
        lines.push(format!(
            "{}{gap} {}",
            style.paint(&name, out.color),
            shorten(&text, width.saturating_sub(NAME + 1))
        ));
    }
    if held.len() > left && left > 0 {
        lines.pop();
        lines.push(format!("… and {} more running", held.len() - left + 1));
    }
    lines
}

/// `part` of `whole` as a bar of `width` columns; a part above 0 is always visible.
fn bar(part: usize, whole: usize, width: usize) -> String {
    let full = (part * width).checked_div(whole).unwrap_or(0).max(usize::from(part > 0)).min(width);
    format!("{}{}", "█".repeat(full), "░".repeat(width - full))
}

#[cfg(test)]
mod tests {
    use super::super::board::sample;
    use super::*;
    use protocol::TaskFilter;

    #[test]
    fn bars_show_progress() {
        let mut board = Board::new(TaskFilter::default());
        let mut tasks = vec![sample("a", TaskStatus::Done, &[]), sample("b", TaskStatus::Done, &[])];
        tasks.extend((0..6).map(|at| sample(&format!("task {at}"), TaskStatus::Running, &[])));
        board.load(tasks);
        let out = Output { json: false, color: false, width: Some(40), now: domain::Timestamp::from_millis(0) };
        let lines = lines(&board, (40, 8), &out);
        assert_eq!(lines[0], format!("◑ running    {}{}      6", "█".repeat(13), "░".repeat(5)));
        assert_eq!(lines[1], format!("● done       {}{}      2", "█".repeat(4), "░".repeat(14)));
        assert_eq!(lines[2], "2 of 8 done, 25 %");
        assert_eq!(lines[3], "-            ◑ CALC-1 task 0");
        assert_eq!(lines.last().unwrap(), "… and 4 more running");
        assert!(lines.len() <= 7 && lines.iter().all(|line| line.width() <= 40), "{lines:#?}");
    }

    #[test]
    fn cancelled_tasks_do_not_slow_progress_down() {
        let mut board = Board::new(TaskFilter::default());
        let of = |status, count| (0..count).map(move |at| sample(&format!("{status} {at}"), status, &[]));
        board.load(
            of(TaskStatus::Done, 2).chain(of(TaskStatus::Ready, 3)).chain(of(TaskStatus::Cancelled, 5)).collect(),
        );
        let out = Output { json: false, color: false, width: Some(40), now: domain::Timestamp::from_millis(0) };
        assert_eq!(lines(&board, (40, 8), &out).last().unwrap(), "2 of 5 done, 40 %");
    }

    #[test]
    fn a_small_part_is_still_visible() {
        assert_eq!((bar(1, 1_000, 4), bar(0, 9, 4), bar(9, 9, 4)), ("█░░░".into(), "░░░░".into(), "████".into()));
    }
}
