//! The example itself, as data.

use domain::{ActivityStatus, LinkKind, Visibility};

/// One project of the example.
pub(crate) struct Plan {
    pub(crate) visibility: Visibility,
    pub(crate) share_execution: bool,
    pub(crate) repositories: &'static [(&'static str, &'static str)],
    /// The versions of its text; the last is current.
    pub(crate) drafts: &'static [&'static str],
    pub(crate) work: &'static [Work],
    /// Its tasks, as a Markdown list.
    pub(crate) tasks: &'static str,
    /// `{key}` refers to the activity with that key, `{me}` mentions the person.
    pub(crate) chat: &'static [&'static str],
}

/// One activity of the example.
pub(crate) struct Work {
    pub(crate) key: &'static str,
    pub(crate) status: ActivityStatus,
    pub(crate) links: &'static [(LinkKind, &'static str)],
    /// The versions of its text; the last is current.
    pub(crate) drafts: &'static [&'static str],
}

/// The whole example.
pub(crate) const PROJECTS: &[Plan] = &[CHECKOUT, SEARCH, NOTES];

const CHECKOUT: Plan = Plan {
    visibility: Visibility::ReadWrite,
    share_execution: true,
    repositories: &[("https://git.example/shop/checkout.git", "main"), ("https://git.example/shop/web.git", "main")],
    drafts: &[
        "# Checkout in one page\n\nReplace the four-step checkout by a single page.",
        "# Checkout in one page\n\nReplace the four-step checkout by a single page.\n\n\
         ## Goals\n- Time from cart to paid below 40 s at p75 (today 95 s)\n- No change to the payment provider's contract\n\n\
         ## Constraints\n- The old flow stays behind a flag until the end of the month\n\
         - Every price is computed on the server; the page only shows it\n- Nothing is merged with a failing end-to-end test",
    ],
    work: &[
        Work {
            key: "address",
            status: ActivityStatus::Active,
            links: &[(LinkKind::Branch, "address-autofill")],
            drafts: &[
                "Address form with autofill\n\nIntent: one form for shipping and billing, filled by the browser.",
                "Address form with autofill\n\nIntent: one form for shipping and billing, filled by the browser.\n\n\
                 Plan\n1. [x] `autocomplete` tokens on every field\n2. [x] Postal codes validated per country\n\
                 3. [ ] Keep what was typed when the country changes\n\nTouches: web/checkout/address.svelte",
            ],
        },
        Work {
            key: "prices",
            status: ActivityStatus::Active,
            links: &[(LinkKind::Branch, "server-prices")],
            drafts: &["Compute totals on the server\n\nIntent: the page shows prices, it never adds them up.\n\n\
                 Plan\n1. [x] `POST /quote` returns lines, taxes, total and an expiry\n\
                 2. [ ] The page asks again when the quote expires\n3. [ ] Delete the arithmetic from the page"],
        },
        Work {
            key: "wallets",
            status: ActivityStatus::Blocked,
            links: &[(LinkKind::Branch, "wallet-buttons")],
            drafts: &[
                "Wallet buttons above the form\n\nIntent: two of three people on phones pay by wallet.",
                "Wallet buttons above the form\n\nIntent: two of three people on phones pay by wallet.\n\n\
                 Blocked: the sandbox account rejects our domain. Waiting for the provider to verify it, ticket 48113.\n\
                 Everything up to the button is done and tested with a fake.",
            ],
        },
        Work {
            key: "flag",
            status: ActivityStatus::Completed,
            links: &[(LinkKind::Branch, "checkout-flag")],
            drafts: &[
                "Old and new checkout behind one flag\n\nDone: `checkout.single_page` per customer, off by default, \
                 switchable without deploy. Both flows are in the end-to-end suite.",
            ],
        },
        Work {
            key: "iframe",
            status: ActivityStatus::Abandoned,
            links: &[],
            drafts: &["Payment form in our own iframe\n\nAbandoned: it would bring card data into our scope. \
                 The provider's hosted fields do the same and keep us out of the audit."],
        },
    ],
    tasks: include_str!("checkout.md"),
    chat: &[
        "Morning. The flag is in: {flag}. Everything below can now land in small pieces.",
        "I am on {prices}. If you do the address form: please do not touch `web/checkout/total.ts`, I am deleting it.",
        "{address} only needs the country list from it. I will copy the three lines, then we do not overlap.",
        "Good. {me} can you look at the quote's expiry? I chose 10 minutes because the tax service caches that long.",
        "10 is fine. Please show the countdown only in the last minute, otherwise it reads like pressure.",
        "{wallets} is stuck on the provider's side: domain verification, ticket 48113. I have moved on to the tests.",
        "About {iframe}: I stopped it. Hosted fields give us the same look *without* card data in our scope. Reasons are in the activity.",
        "End-to-end is green on both flows:\n\n```\n41 passed, 0 failed, 2 skipped (wallets)\n```",
    ],
};

const SEARCH: Plan = Plan {
    visibility: Visibility::ReadOnly,
    share_execution: false,
    repositories: &[("https://git.example/shop/search.git", "main")],
    drafts: &["# Search that forgives typos\n\nPeople type `runing shoos` and get nothing.\n\n\
         ## Goals\n- Fewer than 2 % of searches without a result (today 11 %)\n- p99 below 120 ms at 300 requests/s\n\n\
         ## Constraints\n- No second search engine\n- The index can be rebuilt from the catalogue in under 10 minutes"],
    work: &[
        Work {
            key: "trigram",
            status: ActivityStatus::Completed,
            links: &[(LinkKind::Branch, "trigram-index")],
            drafts: &[
                "Measure: trigrams or edit distance\n\nCompare both on last week's 40,000 searches without a result.",
                "Measure: trigrams or edit distance\n\nCompared on last week's 40,000 searches without a result.\n\n\
                 | approach | rescued | p99 |\n| --- | --- | --- |\n| trigrams | 71 % | 38 ms |\n| edit distance ≤ 2 | 78 % | 210 ms |\n\n\
                 Decision: trigrams, then edit distance on the best 50 candidates: 77 %, 52 ms.",
            ],
        },
        Work {
            key: "rank",
            status: ActivityStatus::Active,
            links: &[(LinkKind::Branch, "rank-by-sales")],
            drafts: &[
                "Rank corrected results below exact ones\n\nIntent: a correction must never hide what was asked for.\n\n\
                 Plan\n1. [x] Two lists, merged by score with a fixed penalty\n2. [ ] Tune the penalty on the labelled set\n\
                 3. [ ] Show `did you mean` when only corrections are left",
            ],
        },
        Work {
            key: "rebuild",
            status: ActivityStatus::Blocked,
            links: &[],
            drafts: &[
                "Rebuild the index without downtime\n\nIntent: build beside, swap, keep the old one for an hour.\n\n\
                 Blocked: the catalogue export holds a lock for 6 minutes. Needs a decision whether we read from the replica.",
            ],
        },
    ],
    tasks: "",
    chat: &[
        "Numbers are in {trigram}. Trigrams first, edit distance only on the best 50: nearly all of the benefit at a quarter of the cost.",
        "Convinced. I take {rank}.",
        "{me} {rebuild} needs you: may the export read from the replica? It lags by up to 30 s, which is fine for an index.",
        "Yes, replica. Write down in the project that 30 s of lag is accepted.",
    ],
};

const NOTES: Plan = Plan {
    visibility: Visibility::Private,
    share_execution: false,
    repositories: &[],
    drafts: &["# Things to sort out\n\nPrivate. What I want to try before I bother anybody with it."],
    work: &[
        Work {
            key: "flaky",
            status: ActivityStatus::Active,
            links: &[(LinkKind::Branch, "no-more-sleep")],
            drafts: &["Why does `orders::refund` fail on Mondays\n\nIt compares local dates across midnight in UTC. \
                 Reproduced with a fixed clock; the fix is a day's arithmetic in the customer's zone."],
        },
        Work {
            key: "budget",
            status: ActivityStatus::Abandoned,
            links: &[],
            drafts: &[
                "One agent per file\n\nTried it on the web package: they wait for each other more than they write. Not worth it.",
            ],
        },
    ],
    tasks: "",
    chat: &["Note to self: before {flaky} goes anywhere, run it with the clock set to each day of the year."],
};
