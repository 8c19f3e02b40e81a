//! Many doubly linked lists over numbered members, each member in at most one of them.
//!
//! Round robin and ranking move members from the middle of a list to the end of another,
//! without allocation; links are stored separately from the members.

/// Sentinel: no list, or no member.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Member {
    list: u32,
    before: u32,
    after: u32,
}

#[derive(Clone, Copy)]
struct Ends {
    first: u32,
    last: u32,
}

/// The lists.
pub(super) struct Lists {
    ends: Vec<Ends>,
    members: Vec<Member>,
}

impl Lists {
    /// Returns `lists` empty lists over no members.
    pub fn new(lists: usize) -> Lists {
        Lists { ends: vec![Ends { first: NONE, last: NONE }; lists], members: Vec::new() }
    }

    /// Makes room for members below `count`; new ones are in no list. Members that exist stay as
    /// they are.
    pub fn reserve(&mut self, count: usize) {
        if count > self.members.len() {
            self.members.resize(count, Member { list: NONE, before: NONE, after: NONE });
        }
    }

    /// Returns the first member of a list; `None` if the list is empty.
    pub fn first(&self, list: usize) -> Option<u32> {
        Some(self.ends[list].first).filter(|&member| member != NONE)
    }

    /// Returns the last member of a list; `None` if the list is empty.
    pub fn last(&self, list: usize) -> Option<u32> {
        Some(self.ends[list].last).filter(|&member| member != NONE)
    }

    /// Returns the list that a member is in; `None` if it is in none. It panics for a member
    /// without room.
    pub fn find_list(&self, member: u32) -> Option<usize> {
        Some(self.members[member as usize].list).filter(|&list| list != NONE).map(|list| list as usize)
    }

    /// Moves a member to the end of a list, from whichever list it is in.
    pub fn push(&mut self, list: usize, member: u32) {
        self.remove(member);
        let last = self.ends[list].last;
        self.members[member as usize] = Member { list: list as u32, before: last, after: NONE };
        match last {
            NONE => self.ends[list].first = member,
            last => self.members[last as usize].after = member,
        }
        self.ends[list].last = member;
    }

    /// Removes a member from its list; one that is in none stays so.
    pub fn remove(&mut self, member: u32) {
        let Member { list, before, after } = self.members[member as usize];
        if list == NONE {
            return;
        }
        match before {
            NONE => self.ends[list as usize].first = after,
            before => self.members[before as usize].after = after,
        }
        match after {
            NONE => self.ends[list as usize].last = before,
            after => self.members[after as usize].before = before,
        }
        self.members[member as usize].list = NONE;
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Removes the members of a list and returns them in order.
    fn drain(lists: &mut Lists, list: usize) -> Vec<u32> {
        std::iter::from_fn(|| {
            let member = lists.first(list)?;
            lists.remove(member);
            Some(member)
        })
        .collect()
    }

    #[test]
    fn push__moves_to_the_end_from_anywhere() {
        let mut lists = Lists::new(2);
        lists.reserve(5);
        (0..5).for_each(|member| lists.push(0, member));
        lists.push(1, 2);
        lists.push(0, 0);
        lists.push(1, 4);
        assert_eq!((lists.find_list(2), lists.last(0), lists.last(1)), (Some(1), Some(0), Some(4)));
        assert_eq!(drain(&mut lists, 0), [1, 3, 0]);
        assert_eq!(drain(&mut lists, 1), [2, 4]);
        assert_eq!((lists.first(0), lists.find_list(2)), (None, None));
    }
}
