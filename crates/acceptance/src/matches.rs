//! Whether a file's content is as it should be.

use engine::tasks::criteria;
use worktree::Root;

use crate::judge::Wanted;
use crate::verdict::{Verdict, name, plain};
use crate::{file, format, schema};

/// Whether all of it holds.
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
    Verdict::Met(format!("{shown} is as it should be"))
}

fn searched(pattern: &str, must: bool, bytes: &[u8]) -> Verdict {
    let shown = plain(pattern, 200);
    let regex = match criteria::regex(pattern) {
        Ok(regex) => regex,
        Err(error) => {
            return Verdict::Unclear(format!("the criterion's regular expression `{shown}` cannot be used: {error}"));
        }
    };
    match (must, regex.find(bytes)) {
        (true, Some(_)) | (false, None) => Verdict::Met(String::new()),
        (true, None) => Verdict::Not(format!("`{shown}` is not found in it")),
        (false, Some(found)) => {
            let line = 1 + bytes[..found.start()].iter().filter(|byte| **byte == b'\n').count();
            Verdict::Not(format!("`{shown}` is found in line {line}, and must not be"))
        }
    }
}

/// A word has a letter or a digit in it.
fn words(least: u32, bytes: &[u8]) -> Verdict {
    let text = String::from_utf8_lossy(bytes);
    let count = text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
    if count >= least as usize {
        Verdict::Met(String::new())
    } else {
        Verdict::Not(format!("it has {count} words, and should have at least {least}"))
    }
}
