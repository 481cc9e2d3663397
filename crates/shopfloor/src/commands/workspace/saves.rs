//! The saves of a workspace: their files, what they lack, and which one was restored.

use protocol::Save;

use crate::table::{Cell, Style, Table};
use crate::{Output, when};

/// How many digits of an id to show.
const DIGITS: usize = 12;
/// How many left-out files to name.
const NAMED: usize = 3;

/// All of them, newest first.
pub(super) fn table(saves: &[Save], out: &Output) -> String {
    let mut table = Table::new(&["ID", "WHEN", "FILES", "NOTE…"], "no saves: there was no uncommitted work");
    for save in saves {
        let notes: Vec<String> = save.restored.iter().map(|id| format!("{} was restored", short(id))).collect();
        let missing = missing(save);
        let style = if missing.is_some() { Style::Yellow } else { Style::Plain };
        let note = notes.into_iter().chain(missing).collect::<Vec<_>>().join("; ");
        table.row([
            short(&save.id).into(),
            when::relative(save.at, out.now).into(),
            save.files.into(),
            Cell::styled(note, style),
        ]);
    }
    table.render(out)
}

/// What a save lacks, for people.
pub(super) fn missing(save: &Save) -> Option<String> {
    let named: Vec<String> =
        save.left_out.iter().take(NAMED).map(|out| format!("{} ({})", out.path, out.why)).collect();
    let more = match save.left_out.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!named.is_empty()).then(|| format!("without {}{more}", named.join(", ")))
}

/// What was restored, as far as the lists of saves before and after tell.
pub(super) fn restored(wanted: Option<&str>, saves: &[Save], out: &Output) -> Vec<String> {
    let newest = saves.first();
    let id = newest.and_then(|save| save.restored.clone()).or_else(|| wanted.map(str::to_lowercase));
    let Some(save) = id.and_then(|id| saves.iter().find(|save| save.id.starts_with(&id))) else { return vec![] };
    let mut lines = vec![format!("restored save {} (made {})", short(&save.id), when::relative(save.at, out.now))];
    lines.extend(missing(save).map(|missing| format!("that save is {missing}")));
    if let Some(before) =
        saves.get(1).filter(|before| before.id != save.id && newest.is_some_and(|n| n.restored.is_some()))
    {
        lines.push(format!("the state before it is in save {}", short(&before.id)));
    }
    lines
}

fn short(id: &str) -> String {
    id.chars().take(DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use domain::Timestamp;
    use protocol::LeftOut;

    use super::*;

    #[test]
    fn left_out_files_of_a_save_are_listed() {
        let out = Output { json: false, color: false, width: None, now: Timestamp::from_millis(60_000) };
        let save = |id: &str, left_out: Vec<LeftOut>, restored: Option<&str>| {
            let (id, restored) = (id.repeat(40), restored.map(|id| id.repeat(40)));
            Save { id, at: Timestamp::from_millis(0), files: 1, left_out, restored }
        };
        let large = LeftOut { path: "big.bin".into(), why: "it is too large".into() };
        let saves = [save("a", vec![], Some("c")), save("b", vec![], None), save("c", vec![large], None)];
        let shown = table(&saves, &out);
        assert!(
            shown.contains("without big.bin (it is too large)") && shown.contains("cccccccccccc was restored"),
            "{shown}"
        );
        let said = restored(None, &saves, &out).join("\n");
        assert!(said.contains("cccccccccccc") && said.contains("big.bin") && said.contains("bbbbbbbbbbbb"), "{said}");
        assert!(restored(Some("CCCC"), &saves[1..], &out)[0].contains("cccccccccccc"));
    }
}
