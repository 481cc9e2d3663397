//! The execution plane of one machine: link to the hub, journal, and what makes the desired sessions true.
