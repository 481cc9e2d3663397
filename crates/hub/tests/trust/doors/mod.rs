//! Who is let to the door at all (T1, T2, T3).

mod bind;
mod credentials;
mod hosts;
mod origins;

/// What may be asked without a credential.
const PUBLIC: [(&str, &str); 7] = [
    ("GET", "/api/sign-in"),
    ("GET", "/api/health"),
    ("POST", "/api/login"),
    ("POST", "/api/observe"),
    ("POST", "/api/invites/accept"),
    ("GET", "/api/auth/github"),
    ("GET", "/api/auth/github/callback"),
];
