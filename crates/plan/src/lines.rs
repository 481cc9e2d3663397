//! The lines of a task's fields.

/// A task's fields with their lines.
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

    /// Stores the line of a field, such as `deps[0]`.
    pub(super) fn note(&mut self, field: impl Into<String>, line: usize) {
        self.fields.push((field.into(), line));
    }

    /// The line of a field, or of what contains it.
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
