//! Recognizes what an agent is doing from its screens and lines. Pure.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::adapter::{Adapter, Mode};
use crate::cause::{self, Cause, HoldUp};
use crate::event::{Count, EventRule};
use crate::json;
use crate::limit::{self, Limit, Retry};
use crate::text;

/// What an agent is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum State {
    /// It thinks or runs tools.
    Working,
    /// It waits for a person.
    Waiting {
        /// For what.
        on: WaitingFor,
        /// The agent's request, if known: a command, a question.
        what: Option<String>,
    },
    /// Its turn is over, and it accepts another prompt.
    Idle,
    /// The run is over; the process is about to exit.
    Finished,
}

/// What an agent waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitingFor {
    /// Permission to do something.
    Permission,
    /// Trust in this folder.
    Trust,
    /// An answer.
    Question,
    /// A login.
    Login,
    /// The end of a provider's limit.
    Limit,
}

/// An agent's usage so far, as it reports it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens, cached ones included.
    pub input: u64,
    /// Cached input tokens.
    pub cached: u64,
    /// Output tokens, reasoning included.
    pub output: u64,
    /// US dollars, if reported.
    pub cost: Option<f64>,
}

/// The current screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observation {
    /// The visible lines as plain text.
    pub text: String,
    /// The terminal's title.
    pub title: String,
    /// How often the bell has rung since the session began.
    pub bells: u64,
    /// How long nothing has been printed.
    pub quiet_ms: u64,
}

/// What was recognized so far. `None` and empty: unknown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Seen {
    /// What the agent is doing.
    pub state: Option<State>,
    /// The conversation's id for resuming.
    pub conversation: Option<String>,
    /// The model it uses.
    pub model: Option<String>,
    /// What it has used.
    pub usage: Usage,
    /// The bell has rung since the observation before this one.
    pub attention: bool,
    /// Its last message to the person.
    pub said: Option<String>,
    /// How often a provider's limit held it up, by its lines.
    pub limits: u32,
    /// The last of those.
    pub limit: Option<Limit>,
    /// How often it was held up, limits included, by its lines.
    pub hold_ups: u32,
    /// The last of those.
    pub hold_up: Option<HoldUp>,
    /// Whether the last hold-up still lasts: its model has not answered since.
    pub held_up: bool,
    /// Whether its model has ever answered.
    pub progressed: bool,
}

/// Follows one session. The same screens and lines always give the same result.
#[derive(Debug, Clone)]
pub struct Recogniser {
    adapter: Arc<Adapter>,
    screens: bool,
    bells: u64,
    /// By rule: the last counted marks. Lines of subagents come between.
    counted: BTreeMap<usize, VecDeque<String>>,
    on_screen: Option<State>,
    in_lines: Option<State>,
    before: Usage,
    /// The agent's own totals.
    settled: Usage,
    seen: Seen,
    /// The last message may continue with the next line.
    saying: bool,
    /// Answers that started since the model last answered.
    begun: u32,
}

/// After this many broken answers, the agent counts as held up.
const BROKE_OFF: u32 = 3;
const MARKS: usize = 32;
const SAID_LIMIT: usize = 64 * 1024;
const ID_LIMIT: usize = 128;
const LINE_LIMIT: usize = 16 << 20;

impl Recogniser {
    /// Follows a session that starts now.
    pub fn new(adapter: Arc<Adapter>, mode: Mode) -> Self {
        // With structured lines, its other output says nothing about its state.
        let screens = !adapter.start(mode).is_some_and(|start| start.lines);
        Self {
            adapter,
            screens,
            bells: 0,
            counted: BTreeMap::new(),
            on_screen: None,
            in_lines: None,
            before: Usage::default(),
            settled: Usage::default(),
            seen: Seen::default(),
            saying: false,
            begun: 0,
        }
    }

    /// The earlier usage of a resumed conversation, see [`Recogniser::total`].
    pub fn resumed(mut self, before: Usage) -> Self {
        self.before = before;
        self
    }

    /// The usage of the whole conversation, including earlier sessions.
    pub fn total(&self) -> Usage {
        let (before, own) = (self.before, self.seen.usage);
        let cost = before.cost.map_or(own.cost, |cost| Some(cost + own.cost.unwrap_or(0.0)));
        Usage {
            input: before.input.saturating_add(own.input),
            cached: before.cached.saturating_add(own.cached),
            output: before.output.saturating_add(own.output),
            cost,
        }
    }

    /// Takes a screen into account.
    pub fn observe(&mut self, screen: &Observation) -> Seen {
        // An agent with structured lines rings when it is done, which its lines say better.
        self.seen.attention = screen.bells > self.bells && self.in_lines.is_none();
        self.bells = self.bells.max(screen.bells);
        if self.screens
            && let Some(state) = self.adapter.screen.iter().find_map(|rule| rule.state(screen))
        {
            self.on_screen = Some(state);
        }
        self.told()
    }

    /// Takes a line of `events.jsonl`, or of the agent's own log, into account. Lines that are not JSON are ignored.
    pub fn line(&mut self, line: &str) -> Seen {
        self.seen.attention = false;
        if line.len() <= LINE_LIMIT
            && let Ok(line) = serde_json::from_str::<Value>(line)
        {
            self.event(&line);
        }
        self.told()
    }

    /// Lines are the agent's own word, while a screen can be imitated: it only adds that a working agent waits.
    fn told(&mut self) -> Seen {
        self.seen.state = match (&self.in_lines, &self.on_screen) {
            (Some(State::Working) | None, Some(waiting @ State::Waiting { .. })) => Some(waiting.clone()),
            (Some(state), _) | (None, Some(state)) => Some(state.clone()),
            (None, None) => None,
        };
        self.seen.clone()
    }

    fn event(&mut self, line: &Value) {
        let adapter = Arc::clone(&self.adapter);
        let (mut saying, mut known) = (false, false);
        let (mut progress, mut held_up, mut begins) = (false, None, false);
        let (before, output) = (self.seen.limits, self.seen.usage.output);
        for (index, rule) in adapter.event.iter().enumerate() {
            for part in rule.about(line) {
                self.in_lines = rule.state().or(self.in_lines.take());
                let word = |path: &Option<String>| json::at(part, path.as_deref()?)?.as_str().and_then(id);
                self.seen.conversation = word(&rule.conversation).or(self.seen.conversation.take());
                self.seen.model = word(&rule.model).or(self.seen.model.take());
                let mark = rule.once.as_deref().and_then(|path| json::at(part, path)?.as_str());
                if mark.is_none_or(|mark| self.is_new(index, mark)) {
                    self.seen.usage.count(rule, part, self.before, &mut self.settled);
                }
                known = true;
                if let Some(said) = EventRule::text(rule.said.as_ref(), part) {
                    self.say(said, rule.joined);
                    saying = rule.joined;
                }
                progress |= rule.is_progress();
                begins |= rule.begins;
                // Several rules may match one line; it is one limit.
                if self.seen.limits == before {
                    self.limit(rule, part);
                }
                held_up = held_up.or_else(|| self.cause(rule, part));
            }
        }
        if known {
            self.saying = saying;
        }
        if self.seen.limits > before {
            let retry = self.seen.limit.as_ref().and_then(|limit| limit.retry.clone());
            let message = held_up.map_or_else(|| "a provider's limit".to_owned(), |held_up| held_up.message);
            held_up = Some(HoldUp { cause: Cause::RateLimit, message, retry });
        }
        // Only what follows the model's last answer counts, also within one line.
        if progress || self.seen.usage.output > output {
            (self.seen.progressed, self.seen.held_up, self.begun) = (true, false, 0);
        }
        self.begun += u32::from(begins);
        if self.begun > BROKE_OFF {
            let words = format!("the model started to answer {} times in a row, but did not finish", self.begun);
            held_up = held_up.or(Some(HoldUp::new(Cause::Network, &words, None)));
        }
        if let Some(held_up) = held_up {
            self.seen.hold_ups += 1;
            (self.seen.hold_up, self.seen.held_up) = (Some(held_up), true);
        }
    }

    /// The error in a line, if it is not the fault of the agent's work.
    fn cause(&self, rule: &EventRule, part: &Value) -> Option<HoldUp> {
        let fault = EventRule::text(rule.fault.as_ref(), part)?;
        match (self.judged(rule, &fault), rule.cause) {
            (None, Some(cause)) => Some(HoldUp::new(cause, &fault, None)),
            (found, _) => found,
        }
    }

    fn judged(&self, rule: &EventRule, fault: &str) -> Option<HoldUp> {
        if rule.own { cause::own_hold_up(&self.adapter, fault) } else { cause::hold_up(&self.adapter, fault) }
    }

    /// Whether this mark is new for its rule; stores it.
    fn is_new(&mut self, rule: usize, mark: &str) -> bool {
        let counted = self.counted.entry(rule).or_default();
        if counted.iter().any(|one| one == mark) {
            return false;
        }
        counted.truncate(MARKS - 1);
        counted.push_front(mark.to_owned());
        true
    }

    fn say(&mut self, said: String, joined: bool) {
        match &mut self.seen.said {
            Some(so_far) if joined && self.saying => {
                if so_far.len() < SAID_LIMIT {
                    so_far.push_str(&said);
                }
            }
            other => *other = Some(said),
        }
    }

    fn limit(&mut self, rule: &EventRule, part: &Value) {
        let waits = rule.retry_after.as_deref().and_then(|path| limit::seconds(json::at(part, path)?));
        let fault = EventRule::text(rule.fault.as_ref(), part);
        let found = fault.and_then(|fault| match rule.limited {
            true => Some(Limit { retry: limit::until(&fault) }),
            // An adapter's own rules may exclude it.
            false => self
                .judged(rule, &fault)
                .filter(|found| found.cause == Cause::RateLimit)
                .map(|found| Limit { retry: found.retry }),
        });
        if rule.limited || found.is_some() || (waits.is_some() && rule.fault.is_none()) {
            let retry = waits.map(Retry::After).or(found.and_then(|found| found.retry));
            self.seen.limits += 1;
            self.seen.limit = Some(Limit { retry });
        }
    }
}

impl Usage {
    fn count(&mut self, rule: &EventRule, part: &Value, before: Usage, settled: &mut Usage) {
        let add = |so_far: &mut u64, paths: &[String], before: u64, settled: u64| {
            if let Some(now) = json::sum(part, paths) {
                *so_far = match rule.count {
                    Count::More => so_far.saturating_add(now),
                    Count::Run => now,
                    Count::Since => settled.saturating_add(now),
                    Count::Conversation => now.saturating_sub(before),
                };
            }
        };
        add(&mut self.input, &rule.input, before.input, settled.input);
        add(&mut self.cached, &rule.cached, before.cached, settled.cached);
        add(&mut self.output, &rule.output, before.output, settled.output);
        if let Some(now) = rule.cost.as_deref().and_then(|path| json::amount(part, path)) {
            self.cost = Some(match rule.count {
                Count::More => self.cost.unwrap_or(0.0) + now,
                Count::Run => now,
                Count::Since => settled.cost.unwrap_or(0.0) + now,
                Count::Conversation => (now - before.cost.unwrap_or(0.0)).max(0.0),
            });
        }
        if rule.count == Count::Since {
            *settled = *self;
        }
    }
}

/// A name from the agent, without strange characters or a leading dash.
fn id(name: &str) -> Option<String> {
    let good = |c: char| c.is_ascii_alphanumeric() || "._:/@+-[]".contains(c);
    let fits = !name.is_empty() && name.len() <= ID_LIMIT && !name.starts_with('-') && name.chars().all(good);
    fits.then(|| text::plain(name))
}
