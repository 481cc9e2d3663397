//! Whether a file's content meets its conditions.

use engine::tasks::criteria;
use worktree::Root;

use crate::judge::Wanted;
use crate::verdict::{Verdict, name, plain};
use crate::{file, format, schema};

/// Checks all conditions.
pub(crate) fn matches(root: &Root, path: &str, wanted: &Wanted) -> Verdict {
    let shown = name(path);
    let content = match file::read(root, path) {
        Ok(content) => content,
        Err(why) => return Verdict::Not(why),
    };
    let (mut faults, mut unclear) = (Vec::new(), Vec::new());
    let mut take = |verdict: Verdict| match verdict {
        Verdict::Met(_) => {}
        Verdict::Not(why) => faults.push(why),
        Verdict::Unclear(why) => unclear.push(why),
    };
    for (pattern, must) in [(&wanted.regex, true), (&wanted.not_regex, false)] {
        if let Some(pattern) = pattern {
            take(searched(pattern, must, &content.bytes));
        }
    }
    if let Some(least) = wanted.min_words {
        take(words(least, &content.bytes));
    }
    if let Some(parses) = wanted.parses {
        take(format::parses(parses, &content.bytes).map_or_else(Verdict::Not, |()| Verdict::Met(String::new())));
    }
    if let Some(schema) = &wanted.json_schema {
        take(schema::meets(schema, &content.bytes));
    }
    if !faults.is_empty() {
        return Verdict::Not(format!("{shown}: {}", faults.join("; ")));
    }
    if !unclear.is_empty() {
        return Verdict::Unclear(format!("{shown}: {}", unclear.join("; ")));
    }
    Verdict::Met(format!("{shown} meets all conditions"))
}

fn searched(pattern: &str, must: bool, bytes: &[u8]) -> Verdict {
    let shown = plain(pattern, 200);
    let regex = match criteria::regex(pattern) {
        Ok(regex) => regex,
        Err(error) => {
            return Verdict::Unclear(format!("the criterion's regular expression `{shown}` is invalid: {error}"));
        }
    };
    match (must, regex.find(bytes)) {
        (true, Some(_)) | (false, None) => Verdict::Met(String::new()),
        (true, None) => Verdict::Not(format!("it does not match `{shown}`")),
        (false, Some(found)) => {
            let line = 1 + bytes[..found.start()].iter().filter(|byte| **byte == b'\n').count();
            Verdict::Not(format!("line {line} matches `{shown}`, which must not occur"))
        }
    }
}

/// A word contains a letter or a digit.
fn words(least: u32, bytes: &[u8]) -> Verdict {
    let text = String::from_utf8_lossy(bytes);
    let count = text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
    if count >= least as usize {
        Verdict::Met(String::new())
    } else {
        Verdict::Not(format!("it has {count} words; at least {least} are required"))
    }
}
