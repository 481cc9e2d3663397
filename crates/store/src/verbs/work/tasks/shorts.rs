//! Tasks by their short names.

use std::collections::HashMap;

use domain::{ProjectId, Short, TaskId};

use crate::StoreError;
use crate::sql::{Value, text};
use crate::tx::Tx;

/// The tasks of a project that these texts name by short names, as far as there are such tasks.
pub(super) async fn named<'a>(
    tx: &mut Tx<'_>,
    project: ProjectId,
    texts: impl Iterator<Item = &'a String>,
) -> Result<HashMap<&'a str, TaskId>, StoreError> {
    let shorts: Vec<(&str, Short)> = texts.filter_map(|text| Some((text.as_str(), text.parse().ok()?))).collect();
    if shorts.is_empty() {
        return Ok(HashMap::new());
    }
    let key = tx.read().first("SELECT task_key FROM projects WHERE id = $1", vec![text(project)]).await?;
    let key = key.ok_or(StoreError::NotFound("project"))?.text("task_key")?;
    let shorts: Vec<(&str, Short)> = shorts.into_iter().filter(|(_, short)| short.key == key).collect();
    let mut found: HashMap<u32, TaskId> = HashMap::new();
    for some in shorts.chunks(64) {
        let places: Vec<String> = (0..some.len()).map(|at| format!("${}", at + 2)).collect();
        let sql = format!("SELECT id, number FROM tasks WHERE project = $1 AND number IN ({})", places.join(", "));
        let numbers = some.iter().map(|(_, short)| Value::from(short.number));
        for row in tx.read().all(&sql, std::iter::once(text(project)).chain(numbers).collect()).await? {
            found.insert(row.count("number")?, row.parsed("id")?);
        }
    }
    Ok(shorts.into_iter().filter_map(|(text, short)| Some((text, *found.get(&short.number)?))).collect())
}
