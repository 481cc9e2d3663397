//! Token prices, for agents that report tokens but no cost.

use std::io::ErrorKind;
use std::path::Path;

use serde::Deserialize;

use crate::error::AdapterError;
use crate::recogniser::Usage;

/// The token prices in `<config_dir>/prices.toml`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    #[serde(default)]
    price: Vec<Price>,
}

/// The price of some models, in US dollars for a million tokens.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Price {
    /// Only for this agent.
    agent: Option<String>,
    /// Only for models whose names start with this.
    model: Option<String>,
    input: f64,
    /// For cached input tokens; default: as other input.
    cached: Option<f64>,
    output: f64,
}

const MILLION: f64 = 1e6;

impl Prices {
    pub(crate) fn load(config_dir: &Path) -> Result<Self, AdapterError> {
        let file = config_dir.join("prices.toml");
        match std::fs::read_to_string(&file) {
            Ok(text) => Self::parse(&file, &text),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(Self::default()),
            Err(error) => Err(AdapterError::unreadable(&file, &error)),
        }
    }

    /// Parses a file; an error names its place.
    pub fn parse(file: &Path, text: &str) -> Result<Self, AdapterError> {
        let prices: Self = toml::from_str(text).map_err(|error| AdapterError::of_toml(file, text, &error))?;
        for price in &prices.price {
            let all = [Some(price.input), price.cached, Some(price.output)];
            if let Some(wrong) = all.into_iter().flatten().find(|price| !price.is_finite() || *price < 0.0) {
                let message = format!("a price is a number of dollars, at least 0, not {wrong}");
                return Err(AdapterError::at(file, text, 0..0, &message));
            }
        }
        Ok(prices)
    }

    /// Whether at least some of an agent's models have a price.
    pub fn knows(&self, agent: &str) -> bool {
        self.price.iter().any(|price| price.agent.as_deref().is_none_or(|only| only == agent))
    }

    /// The cost of an agent's tokens in US dollars, by the first matching price; `None`: unknown.
    pub fn cost(&self, agent: &str, model: Option<&str>, used: &Usage) -> Option<f64> {
        let fits = |price: &&Price| {
            price.agent.as_deref().is_none_or(|only| only == agent)
                && price.model.as_deref().is_none_or(|begin| model.is_some_and(|model| model.starts_with(begin)))
        };
        let price = self.price.iter().find(fits)?;
        let cached = used.cached.min(used.input);
        let each = [
            (used.input - cached, price.input),
            (cached, price.cached.unwrap_or(price.input)),
            (used.output, price.output),
        ];
        Some(each.into_iter().map(|(tokens, dollars)| tokens as f64 * dollars / MILLION).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices(text: &str) -> Result<Prices, AdapterError> {
        Prices::parse(Path::new("prices.toml"), text)
    }

    #[test]
    fn the_first_price_that_fits_counts() {
        let text = "[[price]]\nmodel = \"gpt-5\"\ninput = 1.0\ncached = 0.1\noutput = 10.0\n\
                    [[price]]\nagent = \"gemini\"\ninput = 2.0\noutput = 4.0\n";
        let prices = prices(text).unwrap();
        let used = Usage { input: 1_000_000, cached: 400_000, output: 100_000, cost: None };
        assert_eq!(prices.cost("codex", Some("gpt-5.1-codex"), &used), Some(0.6 + 0.04 + 1.0));
        assert_eq!(prices.cost("gemini", None, &used), Some(0.6 * 2.0 + 0.4 * 2.0 + 0.4));
        assert!(prices.knows("codex"));
        assert_eq!(prices.cost("codex", Some("o9"), &used), None);
        assert_eq!(prices.cost("codex", None, &used), None, "nobody knows which model it is");
    }

    #[test]
    fn price_file_errors_name_their_line() {
        let error = prices("[[price]]\nmodel = \"gpt\"\ninput = 1.0\n").unwrap_err().to_string();
        assert!(error.starts_with("prices.toml:1:") && error.contains("missing field `output`"), "{error}");
        let error = prices("[[price]]\ninput = -1.0\noutput = 1.0\n").unwrap_err().to_string();
        assert!(error.contains("at least 0, not -1"), "{error}");
    }
}
