//! The example itself, as data.

use domain::{ActivityStatus, Visibility};

/// One of the two people of the example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// The caller.
    Me,
    /// The second person.
    Other,
}

/// One project of the example.
pub(crate) struct Plan {
    pub(crate) key: &'static str,
    pub(crate) by: Who,
    pub(crate) visibility: Visibility,
    pub(crate) share_execution: bool,
    /// Whether the scripted agent works on it, in the example's repository.
    pub(crate) worked_on: bool,
    /// The versions of its text; the last is current.
    pub(crate) drafts: &'static [&'static str],
    pub(crate) work: &'static [Work],
    /// `{key}` refers to the activity with that key, `{me}` mentions the person.
    pub(crate) chat: &'static [(Who, &'static str)],
}

/// One activity of the example.
pub(crate) struct Work {
    pub(crate) key: &'static str,
    pub(crate) by: Who,
    pub(crate) status: ActivityStatus,
    /// The versions of its text; the last is current.
    pub(crate) drafts: &'static [&'static str],
}

/// The whole example.
pub(crate) const PROJECTS: &[Plan] = &[UNITS, SEARCH, NOTES];

const UNITS: Plan = Plan {
    key: "units",
    by: Who::Me,
    visibility: Visibility::ReadWrite,
    share_execution: true,
    worked_on: true,
    drafts: &[
        "# Unit converter\n\nA small shell program that converts units.",
        "# Unit converter\n\nA small shell program that converts units. A scripted agent works on it: it follows \
         `.demo/agent.sh` in the repository, without a model and without network.\n\n\
         ## Goals\n- Every conversion has a test\n- The README lists all conversions\n\n\
         ## Constraints\n- Plain shell and awk\n- Nothing lands on main unless `sh test.sh` passes",
    ],
    work: &[
        Work {
            key: "rounding",
            by: Who::Other,
            status: ActivityStatus::Completed,
            drafts: &["Round to two digits\n\nDone: `printf %.2f`. More digits look exact and are not."],
        },
        Work {
            key: "currency",
            by: Who::Other,
            status: ActivityStatus::Blocked,
            drafts: &[
                "Convert currencies\n\nIntent: the same command for money.",
                "Convert currencies\n\nIntent: the same command for money.\n\n\
                 Blocked: rates change every day, and the program has no network. Needs a decision where they come from.",
            ],
        },
        Work {
            key: "python",
            by: Who::Me,
            status: ActivityStatus::Abandoned,
            drafts: &["Rewrite in Python\n\nAbandoned: the shell version starts in 3 ms and has no dependencies."],
        },
    ],
    chat: &[
        (Who::Other, "Morning. {rounding} is in: two digits everywhere."),
        (Who::Me, "Good. The plan for the rest is on the board; two agents take it, and what passes lands on main."),
        (Who::Other, "{currency} is stuck: no network, so no rates. I leave it until somebody decides."),
        (Who::Other, "{me} an agent will ask which cup is meant. I do not know either: both are in use."),
        (Who::Me, "I answer that on the task. By the way, {python} is off: three milliseconds are hard to beat."),
    ],
};

const SEARCH: Plan = Plan {
    key: "search",
    by: Who::Other,
    visibility: Visibility::ReadOnly,
    share_execution: false,
    worked_on: false,
    drafts: &["# Search that forgives typos\n\nPeople type `runing shoos` and get nothing.\n\n\
         ## Goals\n- Fewer than 2 % of searches without a result (today 11 %)\n- p99 below 120 ms at 300 requests/s\n\n\
         ## Constraints\n- No second search engine\n- The index can be rebuilt from the catalogue in under 10 minutes"],
    work: &[
        Work {
            key: "trigram",
            by: Who::Other,
            status: ActivityStatus::Completed,
            drafts: &[
                "Measure: trigrams or edit distance\n\nCompare both on last week's 40,000 searches without a result.",
                "Measure: trigrams or edit distance\n\nCompared on last week's 40,000 searches without a result.\n\n\
                 | approach | rescued | p99 |\n| --- | --- | --- |\n| trigrams | 71 % | 38 ms |\n| edit distance ≤ 2 | 78 % | 210 ms |\n\n\
                 Decision: trigrams, then edit distance on the best 50 candidates: 77 %, 52 ms.",
            ],
        },
        Work {
            key: "rank",
            by: Who::Other,
            status: ActivityStatus::Active,
            drafts: &[
                "Rank corrected results below exact ones\n\nIntent: a correction must never hide what was asked for.\n\n\
                 Plan\n1. [x] Two lists, merged by score with a fixed penalty\n2. [ ] Tune the penalty on the labelled set\n\
                 3. [ ] Show `did you mean` when only corrections are left",
            ],
        },
        Work {
            key: "rebuild",
            by: Who::Other,
            status: ActivityStatus::Blocked,
            drafts: &[
                "Rebuild the index without downtime\n\nIntent: build beside, swap, keep the old one for an hour.\n\n\
                 Blocked: the catalogue export holds a lock for 6 minutes. Needs a decision whether we read from the replica.",
            ],
        },
    ],
    chat: &[
        (
            Who::Other,
            "Numbers are in {trigram}. Trigrams first, edit distance only on the best 50: nearly all of the benefit at a quarter of the cost.",
        ),
        (Who::Other, "I take {rank} next."),
        (
            Who::Other,
            "{me} for your information: {rebuild} waits for a decision whether the export may read from the replica. It lags by up to 30 s.",
        ),
    ],
};

const NOTES: Plan = Plan {
    key: "notes",
    by: Who::Me,
    visibility: Visibility::Private,
    share_execution: false,
    worked_on: false,
    drafts: &["# Things to sort out\n\nPrivate. What I want to try before I bother anybody with it."],
    work: &[
        Work {
            key: "flaky",
            by: Who::Me,
            status: ActivityStatus::Active,
            drafts: &["Why does `orders::refund` fail on Mondays\n\nIt compares local dates across midnight in UTC. \
                 Reproduced with a fixed clock; the fix is a day's arithmetic in the customer's zone."],
        },
        Work {
            key: "budget",
            by: Who::Me,
            status: ActivityStatus::Abandoned,
            drafts: &[
                "One agent per file\n\nTried it on the web package: they wait for each other more than they write. Not worth it.",
            ],
        },
    ],
    chat: &[(
        Who::Me,
        "Note to self: before {flaky} goes anywhere, run it with the clock set to each day of the year.",
    )],
};
