//! The common devices that can do as a policy does, parsed from its header's `install`.

/// A device or program other than our own that does as a policy does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counterpart {
    /// Its kind.
    pub kind: CounterpartKind,
    /// Parameters and the values that they must have: the counterpart knows no others.
    pub requires: Vec<(&'static str, &'static str)>,
}

/// The kinds of counterparts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CounterpartKind {
    /// A queue discipline of Linux: its name in tc, and the oldest kernel that has it.
    Qdisc(&'static str, &'static str),
    /// WRED, which routers have for each DSCP.
    Wred,
    /// Classes, one for each band, each with a drop-tail buffer of its own.
    Classes,
    /// A firewall's rule that counts the bytes of a connection, up to the parameter of this name.
    Firewall(&'static str),
}

impl Counterpart {
    /// Parses the text of a header's `install` (`policy.h`); `None` if it is empty.
    ///
    /// # Errors
    /// A sentence without its subject, which says how the text must begin or end.
    pub(crate) fn parse(text: &'static str) -> Result<Option<Counterpart>, String> {
        let mut words = text.split_whitespace();
        let Some(what) = words.next() else { return Ok(None) };
        let kind = match what.split_once(':') {
            Some(("qdisc", one)) if one.contains(',') => {
                let (name, kernel) = one.split_once(',').unwrap_or_default();
                CounterpartKind::Qdisc(name, kernel)
            }
            Some(("firewall", name)) if !name.is_empty() => CounterpartKind::Firewall(name),
            None if what == "wred" => CounterpartKind::Wred,
            None if what == "classes" => CounterpartKind::Classes,
            _ => {
                return Err(format!(
                    "must begin with qdisc:KIND,KERNEL, wred, classes or firewall:NAME, not \"{what}\""
                ));
            }
        };
        let pair = |word: &'static str| {
            word.split_once('=').ok_or_else(|| format!("must end with name=value, not \"{word}\""))
        };
        Ok(Some(Counterpart { kind, requires: words.map(pair).collect::<Result<_, _>>()? }))
    }

    /// Returns the names of the parameters that the text mentions, whether or not the policy has them.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        let own = match self.kind {
            CounterpartKind::Firewall(name) => Some(name),
            CounterpartKind::Qdisc(..) | CounterpartKind::Wred | CounterpartKind::Classes => None,
        };
        own.into_iter().chain(self.requires.iter().map(|(name, _)| *name))
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn parse__takes_every_kind() {
        assert_eq!(Counterpart::parse(""), Ok(None));
        let kind = |text| Counterpart::parse(text).unwrap().unwrap();
        assert_eq!(kind("qdisc:red,2.2").kind, CounterpartKind::Qdisc("red", "2.2"));
        let wred = kind("wred mode=total gentle=false");
        assert_eq!(
            (wred.kind, wred.requires),
            (CounterpartKind::Wred, vec![("mode", "total"), ("gentle", "false")])
        );
        assert_eq!(kind("classes").kind, CounterpartKind::Classes);
        let rule = kind("firewall:th timeout=never");
        assert_eq!(rule.names().collect::<Vec<_>>(), ["th", "timeout"]);
    }

    #[test]
    fn parse__refuses_anything_else() {
        for text in ["red", "qdisc:red", "firewall", "wred:x", "wred mode"] {
            assert!(Counterpart::parse(text).is_err(), "{text}");
        }
    }
}
