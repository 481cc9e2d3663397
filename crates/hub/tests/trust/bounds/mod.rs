//! Everything that comes in and goes out has a bound (T12): each verb, frame and tool is named here with the one that it
//! has, and what is not named fails.

mod agents;
mod frames;
mod verbs;

use protocol::ProblemKind;
use testkit::TestHub;

/// A hub that takes a few requests of each credential at once, and one in a second after that.
async fn strict() -> TestHub {
    TestHub::with(|options| options.limits.requests_per_second = 1).await
}

/// How a refusal for asking too often is called.
const OFTEN: ProblemKind = ProblemKind::RateLimited;
