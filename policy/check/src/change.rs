//! Changes of single fields of the parameters by the smallest step that the header's table allows.

use crate::btf::Field;
use mousehole_policy::{Kind, Params, Policy};

/// The [reach](Change::reach) of a change that has made no difference yet. A [probe](Change::probe)
/// then takes half of two to this power steps.
pub(crate) const FARTHEST: u32 = 60;

/// A change of one field in one direction, and the result of its trials.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub field: Field,
    step: Step,
    role: Role,
    /// Whether it must be noticed; otherwise it must not be.
    pub matters: bool,
    /// Records on which it was tried.
    pub records: u64,
    /// Whether some outcome or state differed.
    pub noticed: bool,
    /// The least power of two steps that has made a difference on the current chain, as an
    /// exponent; [`FARTHEST`], or a little less, if none has.
    pub reach: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Up,
    Down,
    Flip(u32),
}

/// The role of a field by the header's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It is set by the set-up function.
    Computed,
    /// It is a number: the parameter's position, and which of the elements that the parameter is written to.
    Number(usize, usize),
    /// It is a choice, whose position begins at this bit.
    Choice(usize, u32),
    /// It holds switches, or nothing reads it.
    Bits,
}

impl Change {
    /// Returns a name such as `level[1].w_q32 + 1`.
    pub fn name(&self) -> String {
        let path = &self.field.path;
        match self.step {
            Step::Up => format!("{path} + 1"),
            Step::Down => format!("{path} - 1"),
            Step::Flip(bit) => format!("{path} bit {bit}"),
        }
    }

    /// Returns the parameters with the change; `None` if it leaves the allowed range.
    pub fn apply(&self, params: &Params) -> Option<Params> {
        self.apply_by(params, 1)
    }

    /// Returns the same with so many steps in place of one; `None` for several steps of a switch or choice.
    fn apply_by(&self, params: &Params, steps: u64) -> Option<Params> {
        let Field { offset, width, .. } = self.field;
        let mut bytes = params.bytes();
        let old = read(&bytes, offset, width);
        let unit = match self.role {
            Role::Choice(..) | Role::Bits if steps > 1 => return None,
            Role::Choice(_, shift) => 1 << shift,
            _ => steps,
        };
        let new = match self.step {
            Step::Up => old.checked_add(unit).filter(|new| *new <= u64::MAX >> (64 - 8 * width))?,
            Step::Down => old.checked_sub(unit)?,
            Step::Flip(bit) => old ^ 1 << bit,
        };
        // The functions may divide by what set-up computes.
        if self.role == Role::Computed && self.step == Step::Down && new == 0 {
            return None;
        }
        write(&mut bytes, offset, width, new);
        let changed = params.with_bytes(&bytes);
        self.is_allowed(&changed, bytes, &params.bytes()).then_some(changed)
    }

    /// Returns whether the table allows the value of the changed field. `bytes` are those of `changed`, `before` those
    /// without the change.
    fn is_allowed(&self, changed: &Params, mut bytes: Vec<u8>, before: &[u8]) -> bool {
        let policy = changed.policy();
        match self.role {
            Role::Computed | Role::Bits => true,
            Role::Number(index, element) => {
                let (parameter, layout) = (&policy.parameters()[index], policy.field(index));
                let at = layout.offset + element * layout.stride;
                bytes.copy_within(at..at + layout.bytes, layout.offset); // numbers are read from the first element
                let number = changed.with_bytes(&bytes).number(parameter.name);
                (parameter.least..=parameter.most).contains(&number)
            }
            Role::Choice(index, shift) => {
                let Kind::Choice(words) = policy.parameters()[index].kind else { return true };
                let word = read(&bytes, self.field.offset, self.field.width);
                let others = !u64::from(policy.field(index).mask);
                let before = read(before, self.field.offset, self.field.width);
                let position = (word & !others) >> shift;
                word & others == before & others
                    && words.get(position as usize).is_some_and(|word| *word != "-")
            }
        }
    }
}

/// Returns the little-endian integer of `width` bytes at `offset`; `width` is at most 8.
fn read(bytes: &[u8], offset: usize, width: usize) -> u64 {
    let mut word = [0; 8];
    word[..width].copy_from_slice(&bytes[offset..offset + width]);
    u64::from_le_bytes(word)
}

/// Writes the low `width` bytes of a number at `offset` in little-endian order; `width` is at most 8.
fn write(bytes: &mut [u8], offset: usize, width: usize, value: u64) {
    bytes[offset..offset + width].copy_from_slice(&value.to_le_bytes()[..width]);
}

/// Returns every change of every field, none of them tried yet.
pub(crate) fn all_changes(policy: &Policy, fields: &[Field]) -> Vec<Change> {
    fields.iter().flat_map(|field| list_changes(policy, field)).collect()
}

/// Returns the changes to try on a field: a single step up if no function reads it.
fn list_changes(policy: &Policy, field: &Field) -> Vec<Change> {
    let change = |step, role, matters| Change {
        field: field.clone(),
        step,
        role,
        matters,
        records: 0,
        noticed: false,
        reach: FARTHEST,
    };
    let is_unread = policy.unread().contains(&field.path.as_str())
        || field.path.split('.').any(|part| part == "settings" || part.starts_with("reserved"));
    if is_unread {
        return vec![change(Step::Up, Role::Bits, false)];
    }
    let mut found = Vec::new();
    for (index, parameter) in policy.parameters().iter().enumerate() {
        let layout = policy.field(index);
        let elements = (0..layout.count).filter(|element| {
            let at = layout.offset + element * layout.stride;
            (at..at + layout.bytes).contains(&field.offset)
        });
        for element in elements {
            let is_second = field.offset > layout.offset + element * layout.stride;
            match parameter.kind {
                Kind::Flag => {
                    let bits = (0..u32::BITS).filter(|bit| layout.mask >> bit & 1 == 1);
                    found.extend(bits.map(|bit| change(Step::Flip(bit), Role::Bits, true)));
                }
                Kind::Choice(_) => {
                    let role = Role::Choice(index, layout.mask.trailing_zeros());
                    found.extend([Step::Up, Step::Down].map(|step| change(step, role, true)));
                }
                Kind::Threshold | Kind::Buffer if is_second => {
                    found.push(change(Step::Flip(0), Role::Bits, true))
                }
                _ => {
                    let role = Role::Number(index, element);
                    found.extend([Step::Up, Step::Down].map(|step| change(step, role, true)));
                }
            }
        }
    }
    if found.is_empty() {
        found.extend([Step::Up, Step::Down].map(|step| change(step, Role::Computed, true)));
    }
    found
}

impl Change {
    /// Returns whether the change must still be noticed.
    pub fn is_open(&self) -> bool {
        self.matters && !self.noticed
    }

    /// Returns the parameters with half as large a step as `reach`; `None` if that is a single step or leaves the range.
    /// While a step leaves the range and `reach` is large, it lowers `reach` first.
    pub fn probe(&mut self, params: &Params) -> Option<Params> {
        while self.reach > 1 {
            let probe = self.apply_by(params, 1 << (self.reach - 1));
            if probe.is_some() || self.reach < FARTHEST / 2 {
                return probe;
            }
            self.reach -= 1; // so large a step leaves the range
        }
        None
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use mousehole_policy::{LinkContext, find};

    fn changes_of(policy: &str, path: &str, offset: usize, width: usize) -> Vec<Change> {
        list_changes(find(policy).unwrap(), &Field { path: path.into(), offset, width })
    }

    #[test]
    fn changes__follow_the_table() {
        let policy = find("window-marker").unwrap();
        let params =
            Params::from_text(policy, &[("high", "0"), ("med", "65535")], &LinkContext::EXAMPLE).unwrap();
        let high = changes_of("window-marker", "high", 0, 4);
        let allowed: Vec<String> =
            high.iter().filter(|change| change.apply(&params).is_some()).map(Change::name).collect();
        assert_eq!(allowed, ["high + 1"]); // 0 is the least
        let medium = changes_of("window-marker", "medium", 4, 4);
        let allowed: Vec<String> =
            medium.iter().filter(|change| change.apply(&params).is_some()).map(Change::name).collect();
        assert_eq!(allowed, ["medium - 1"]); // 65535 is the most
        assert_eq!(changes_of("window-marker", "randomised", 8, 4)[0].name(), "randomised bit 0");
        assert!(!changes_of("window-marker", "reserved", 12, 4)[0].matters);
    }

    #[test]
    fn changes__keep_to_the_values_of_a_choice() {
        let policer = find("policer").unwrap();
        let index = policer.parameters().iter().position(|parameter| parameter.name == "police").unwrap();
        let action = changes_of("policer", "action", policer.field(index).offset, 4);
        let params = Params::from_text(policer, &[("police", "drop")], &LinkContext::EXAMPLE).unwrap();
        let allowed: Vec<String> =
            action.iter().filter(|change| change.apply(&params).is_some()).map(Change::name).collect();
        assert_eq!(allowed, ["action - 1"]);
    }

    #[test]
    fn changes__leave_out_fields_that_are_not_read() {
        assert!(!changes_of("policer", "settings.burst_bytes", 0, 8)[0].matters);
        assert!(!changes_of("multi-red", "level[1].spare_below_packets", 0, 4)[0].matters);
    }
}
