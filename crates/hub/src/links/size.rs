//! Whose view decides a terminal's size. Pure: knows neither links nor people.

/// Narrower views do not size a fresh terminal: programs expect 80 columns.
const LEAST_COLS: u16 = 80;

/// A width and a height.
pub(super) type Size = (u16, u16);

/// What a view says about its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct View {
    /// Columns and rows that fit into the view.
    pub(crate) size: Size,
    /// Whether its person typed there, or asked for its size.
    pub(crate) take: bool,
    /// Whether it is the session's owner's.
    pub(crate) owners: bool,
}

/// How the terminal is resized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resize {
    /// Now.
    Now,
    /// Only if nobody has resized the terminal since it began.
    IfFresh,
}

/// The view whose size the terminal has.
#[derive(Debug, Default)]
pub(super) struct Sizing {
    /// Follows this view's size until it leaves or another one takes it.
    holder: Option<u64>,
    /// The view that asked for the size of a fresh terminal.
    first: Option<(u64, Size)>,
}

impl Sizing {
    /// A view has this size; `None`: the terminal keeps its own.
    pub(super) fn viewed(&mut self, id: u64, view: View) -> Option<Resize> {
        if view.take {
            (self.holder, self.first) = (Some(id), None);
        }
        if self.holder == Some(id) {
            return Some(Resize::Now);
        }
        if self.holder.is_some() || !view.owners || view.size.0 < LEAST_COLS {
            return None;
        }
        self.first = Some((id, view.size));
        Some(Resize::IfFresh)
    }

    /// The terminal has this size now.
    pub(super) fn shown(&mut self, size: Size) {
        if let Some((id, _)) = self.first.filter(|(_, asked)| self.holder.is_none() && *asked == size) {
            (self.holder, self.first) = (Some(id), None);
        }
    }

    /// A view leaves; the terminal keeps its size until another view takes it.
    pub(super) fn left(&mut self, id: u64) {
        self.holder = self.holder.filter(|holder| *holder != id);
        self.first = self.first.filter(|(first, _)| *first != id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: u64 = 1;
    const PHONE: u64 = 2;

    fn watches(cols: u16) -> View {
        View { size: (cols, 40), take: false, owners: true }
    }

    fn types(cols: u16) -> View {
        View { take: true, ..watches(cols) }
    }

    #[test]
    fn a_view_that_only_watches_does_not_resize_the_terminal() {
        let mut sizing = Sizing::default();
        assert_eq!(sizing.viewed(WINDOW, types(140)), Some(Resize::Now));
        assert_eq!(sizing.viewed(PHONE, watches(42)), None);
        assert_eq!(sizing.viewed(PHONE, watches(100)), None, "nor a large one");
        sizing.left(PHONE);
        assert_eq!(sizing.viewed(WINDOW, watches(120)), Some(Resize::Now), "the window is followed");
    }

    #[test]
    fn the_size_goes_to_the_view_that_types() {
        let mut sizing = Sizing::default();
        assert_eq!(sizing.viewed(WINDOW, types(140)), Some(Resize::Now));
        assert_eq!(sizing.viewed(PHONE, types(42)), Some(Resize::Now));
        assert_eq!(sizing.viewed(WINDOW, watches(150)), None, "it has to type again");
        assert_eq!(sizing.viewed(WINDOW, types(150)), Some(Resize::Now));
    }

    #[test]
    fn the_size_stays_when_its_view_leaves() {
        let mut sizing = Sizing::default();
        assert_eq!(sizing.viewed(WINDOW, types(140)), Some(Resize::Now));
        sizing.left(WINDOW);
        sizing.shown((140, 40));
        assert_eq!(sizing.viewed(PHONE, watches(90)), Some(Resize::IfFresh), "its runner knows that it is not fresh");
        sizing.shown((140, 40));
        assert_eq!(sizing.viewed(PHONE, watches(91)), Some(Resize::IfFresh));
    }

    #[test]
    fn the_first_wide_view_of_the_owner_sizes_a_fresh_terminal() {
        let mut sizing = Sizing::default();
        assert_eq!(sizing.viewed(PHONE, watches(42)), None, "too narrow for programs");
        assert_eq!(sizing.viewed(PHONE, View { owners: false, ..watches(140) }), None, "another person's");
        assert_eq!(sizing.viewed(WINDOW, watches(140)), Some(Resize::IfFresh));
        sizing.shown((140, 40));
        assert_eq!(sizing.viewed(WINDOW, watches(130)), Some(Resize::Now), "and is followed from then on");
    }
}
