//! The list is complete, and its entries are what the object and the headers have.
#![allow(non_snake_case)]

use super::POLICIES;
use crate::parity::{Call, Case, Dice, OBJECT, fields, size};
use std::collections::BTreeSet;

fn cases(index: usize, count: usize) -> Vec<Case> {
    let mut dice = Dice::new(11);
    (0..count).map(|_| (POLICIES[index].draw)(&mut dice)).collect()
}

#[test]
fn policies__are_the_headers() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../policy/include/mousehole");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let names = files.map(|file| file.file_stem().unwrap().to_str().unwrap().to_string());
    let headers: BTreeSet<String> = names.filter(|name| name != "base").collect();
    let listed: BTreeSet<String> = POLICIES.iter().map(|entry| entry.name.to_string()).collect();
    assert_eq!(listed, headers);
}

#[test]
fn policies__have_the_sizes_of_the_object() {
    for entry in &POLICIES {
        assert_eq!(entry.sizes, (size(OBJECT, entry.params), size(OBJECT, entry.state)), "{}", entry.name);
    }
}

#[test]
fn fields__add_up_to_their_struct() {
    for entry in &POLICIES {
        for name in [entry.params, entry.state] {
            let all = fields(OBJECT, name);
            let mut end = 0;
            for field in &all {
                assert_eq!(field.offset, end, "{name}.{}", field.path);
                end += field.width;
            }
            assert_eq!(end, size(OBJECT, name), "{name}");
        }
    }
}

#[test]
fn fields__name_where_they_stand() {
    let all = fields(OBJECT, "mh_multi_red_params");
    let second = all.iter().find(|field| field.path == "level[1].w_q32").unwrap();
    assert_eq!((second.name.as_str(), second.offset, second.width), ("w_q32", 88 + 24, 8));
}

#[test]
fn draw__repeats() {
    for entry in &POLICIES {
        let [one, other] = [5, 5].map(|seed| (entry.draw)(&mut Dice::new(seed)));
        assert_eq!((one.params, one.before, one.records), (other.params, other.before, other.records));
        assert_eq!((one.outcomes, one.after), (other.outcomes, other.after));
    }
}

#[test]
fn draw__reaches_every_outcome() {
    for (index, entry) in POLICIES.iter().enumerate() {
        let seen: BTreeSet<u32> = cases(index, 200).into_iter().flat_map(|case| case.outcomes).collect();
        assert_eq!(seen, (0..entry.outcomes.len() as u32).collect(), "{}", entry.name);
    }
}

#[test]
fn draw__red__all_options() {
    let at =
        fields(OBJECT, "mh_red_params").into_iter().find(|field| field.name == "options").unwrap().offset;
    let seen: BTreeSet<u8> = cases(0, 2000).iter().map(|case| case.params[at]).collect();
    assert_eq!(seen, (0..16).collect());
}

#[test]
fn draw__multi_red__all_modes_colours_and_calls() {
    let cases = cases(1, 500);
    let tail = |case: &Case| (case.params[264], case.params[268]);
    let seen: BTreeSet<(u8, u8)> = cases.iter().map(tail).collect();
    assert_eq!(seen.len(), 9, "3 numbers of colours in 3 modes");
    for call in [Call::Packet, Call::Departed] {
        assert!(cases.iter().any(|case| case.records.iter().any(|record| record.call == call)));
    }
}
