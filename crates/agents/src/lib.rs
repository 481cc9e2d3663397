//! Adapters: how each coding-agent CLI is started, understood and resumed.
