//! The real hub, the real runner and real agents, together; tests only.
