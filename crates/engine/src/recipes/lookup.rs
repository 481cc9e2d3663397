//! Looking up the steps of a recipe.

use super::model::{Recipe, Step};
use super::{Path, tree};

impl Recipe {
    /// The step of a path.
    pub fn find(&self, path: &Path) -> Option<&Step> {
        tree::find(self, path)
    }

    /// The ids of all steps, in the order of the text.
    pub fn ids(&self) -> Vec<&str> {
        self.all_steps().into_iter().map(|step| step.id.as_str()).collect()
    }

    /// All steps, those in blocks too, in the order of the text.
    pub fn all_steps(&self) -> Vec<&Step> {
        fn add<'r>(steps: &'r [Step], found: &mut Vec<&'r Step>) {
            for step in steps {
                found.push(step);
                tree::lists(step).into_iter().for_each(|list| add(list, found));
            }
        }
        let mut found = Vec::new();
        add(&self.steps, &mut found);
        found
    }
}
