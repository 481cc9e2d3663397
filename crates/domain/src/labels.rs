//! Labels of tasks: short names to group and find tasks by.

/// How many labels a task may have.
pub const MAX: usize = 10;
/// How many characters a label may have.
pub const LENGTH: usize = 40;

/// Why a label was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LabelError {
    /// Nothing but white space.
    #[error("it is empty: write at least one letter or digit")]
    Empty,
    /// More than [`LENGTH`] characters.
    #[error("it has {0} characters; the limit is {LENGTH}")]
    TooLong(usize),
    /// A character that labels do not have.
    #[error("{} cannot be in a label: use letters, digits and `-_./`", named(*.0))]
    Character(char),
    /// The task has the label already.
    #[error("`{0}` is given twice")]
    Twice(String),
    /// More than [`MAX`] labels.
    #[error("{0} are given; the limit is {MAX}")]
    TooMany(usize),
}

fn named(c: char) -> String {
    if c.is_whitespace() { "white space".to_owned() } else { format!("`{}`", c.escape_debug()) }
}

/// Refuses one label, with the reason.
pub fn check_one(label: &str) -> Result<(), LabelError> {
    if label.trim().is_empty() {
        return Err(LabelError::Empty);
    }
    let length = label.chars().count();
    if length > LENGTH {
        return Err(LabelError::TooLong(length));
    }
    match label.chars().find(|c| !c.is_alphanumeric() && !"-_./".contains(*c)) {
        Some(other) => Err(LabelError::Character(other)),
        None => Ok(()),
    }
}

/// Refuses the labels of a task, with the place of the wrong one, unless there are too many.
pub fn check(labels: &[String]) -> Result<(), (Option<usize>, LabelError)> {
    if labels.len() > MAX {
        return Err((None, LabelError::TooMany(labels.len())));
    }
    for (at, label) in labels.iter().enumerate() {
        check_one(label).map_err(|error| (Some(at), error))?;
        if labels[..at].contains(label) {
            return Err((Some(at), LabelError::Twice(label.clone())));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_one_short_word() {
        for fine in ["ui", "v1.2", "area/web", "no_net-2", "größe", &"x".repeat(LENGTH)] {
            assert_eq!(check_one(fine), Ok(()), "{fine}");
        }
        for (wrong, why) in [
            ("", LabelError::Empty),
            (" ", LabelError::Empty),
            ("two words", LabelError::Character(' ')),
            ("a,b", LabelError::Character(',')),
            ("a\"b", LabelError::Character('"')),
            ("a\u{202e}b", LabelError::Character('\u{202e}')),
        ] {
            assert_eq!(check_one(wrong), Err(why), "{wrong:?}");
        }
        let said = |label| check_one(label).map_err(|error| error.to_string()).unwrap_err();
        assert!(said("two words").starts_with("white space cannot be in a label"));
        assert!(said("a\u{202e}b").starts_with("`\\u{202e}` cannot be in a label"));
        assert_eq!(check_one(&"ü".repeat(LENGTH + 1)), Err(LabelError::TooLong(LENGTH + 1)));
    }

    #[test]
    fn a_task_has_few_different_labels() {
        let labels = |count: usize| (0..count).map(|at| format!("l{at}")).collect::<Vec<_>>();
        assert_eq!(check(&labels(MAX)), Ok(()));
        assert_eq!(check(&labels(MAX + 1)), Err((None, LabelError::TooMany(MAX + 1))));
        let twice = ["ui", "api", "ui"].map(str::to_owned);
        assert_eq!(check(&twice), Err((Some(2), LabelError::Twice("ui".into()))));
    }
}
