//! The lines that a task's fields are on.

/// Fields of one task with their lines.
#[derive(Debug, Clone, Default)]
pub(super) struct Lines {
    first: usize,
    fields: Vec<(String, usize)>,
}

impl Lines {
    /// A task that begins on this line.
    pub(super) fn new(first: usize) -> Self {
        Self { first, fields: Vec::new() }
    }

    /// Notes where a field is, as `deps[0]`.
    pub(super) fn note(&mut self, field: impl Into<String>, line: usize) {
        self.fields.push((field.into(), line));
    }

    /// Where a field is, or else what it is in.
    pub(super) fn of(&self, field: &str) -> Option<usize> {
        let mut field = field;
        loop {
            if let Some((_, line)) = self.fields.iter().find(|(name, _)| name == field) {
                return Some(*line);
            }
            match field.rfind(['.', '[']) {
                Some(cut) => field = &field[..cut],
                None => return Some(self.first),
            }
        }
    }
}
