//! Where a step is in an execution: `deploy`, `fan[left]/build`, `each[issue-42]/fix`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The place of a step: its id, after the blocks and lanes that it is in.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path {
    lanes: Vec<Lane>,
    step: String,
}

/// A list of steps in a block: a case of a branch (its position), a list of a parallel block (its name), or an item.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lane {
    /// The block's step.
    pub block: String,
    /// Which of its lanes.
    pub key: String,
}

/// Why a text is not a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the path of a step: write `step`, or `block[lane]/step`")]
pub struct PathError(String);

impl Path {
    /// A step at the top.
    pub fn top(step: &str) -> Self {
        Self { lanes: Vec::new(), step: step.to_owned() }
    }

    /// A step in a lane of this block.
    pub fn inside(&self, key: &str, step: &str) -> Self {
        let mut lanes = self.lanes.clone();
        lanes.push(Lane { block: self.step.clone(), key: key.to_owned() });
        Self { lanes, step: step.to_owned() }
    }

    /// Another step of the same list.
    pub fn beside(&self, step: &str) -> Self {
        Self { lanes: self.lanes.clone(), step: step.to_owned() }
    }

    /// The id of the step.
    pub fn step(&self) -> &str {
        &self.step
    }

    /// The lanes that it is in, outermost first.
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// The block that it is in, with the key of its lane; `None` at the top.
    pub fn block(&self) -> Option<(Self, &str)> {
        let (last, outer) = self.lanes.split_last()?;
        Some((Self { lanes: outer.to_vec(), step: last.block.clone() }, &last.key))
    }

    /// Whether it is inside of a block, at any depth.
    pub fn is_inside(&self, block: &Self) -> bool {
        self.lanes.len() > block.lanes.len()
            && self.lanes.starts_with(&block.lanes)
            && self.lanes[block.lanes.len()].block == block.step
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for lane in &self.lanes {
            write!(f, "{}[{}]/", lane.block, lane.key)?;
        }
        f.write_str(&self.step)
    }
}

impl FromStr for Path {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let wrong = || PathError(text.chars().take(80).collect());
        let (mut lanes, mut rest) = (Vec::new(), text);
        while let Some((block, after)) = rest.split_once('[') {
            let (key, inner) = after.split_once("]/").ok_or_else(wrong)?;
            if block.is_empty() || block.contains('/') || key.is_empty() {
                return Err(wrong());
            }
            lanes.push(Lane { block: block.to_owned(), key: key.to_owned() });
            rest = inner;
        }
        if rest.is_empty() || rest.contains(['/', ']']) {
            return Err(wrong());
        }
        Ok(Self { lanes, step: rest.to_owned() })
    }
}

impl Serialize for Path {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Path {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_reads_back_as_it_is_written() {
        let each = Path::top("fan").inside("left", "each");
        let fix = each.inside("a/b", "fix");
        assert_eq!(fix.to_string(), "fan[left]/each[a/b]/fix");
        assert_eq!(fix.to_string().parse(), Ok(fix.clone()));
        assert_eq!(fix.block(), Some((each.clone(), "a/b")));
        assert!(fix.is_inside(&each) && fix.is_inside(&Path::top("fan")) && !each.is_inside(&each));
    }

    #[test]
    fn a_text_that_is_no_path_is_refused() {
        for text in ["", "a/b", "a[]/b", "a[x]b", "[x]/b", "a[x]/", "a]"] {
            assert!(text.parse::<Path>().is_err(), "{text}");
        }
    }
}
