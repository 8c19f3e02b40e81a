//! The loaded programs, briefly; `make bpf-parity` plays eight million records to each.
#![allow(non_snake_case)]

use mousehole_live::parity::sensitivity::{changes, search};
use mousehole_live::parity::{Dice, Kernel, OBJECT, POLICIES, RECORDS, Refusal, compare};

/// The programs, or `None` with the reason where eBPF cannot be used; in CI that is a failure.
fn kernel() -> Option<Kernel> {
    match Kernel::load(OBJECT) {
        Ok(kernel) => Some(kernel),
        Err(Refusal::NotHere(why)) if std::env::var_os("CI").is_none() => {
            println!("NOT RUN: {why}");
            None
        }
        Err(refusal) => panic!("{refusal}"),
    }
}

#[test]
fn compare__no_difference() {
    let Some(kernel) = kernel() else { return };
    for entry in &POLICIES {
        let parity = compare(&kernel, entry, 2, 64).unwrap();
        assert_eq!(parity.records, 64 * RECORDS);
        assert_eq!(parity.differences(), 0, "{}: {:?}", entry.name, parity.first);
    }
}

#[test]
fn run__answers_each_record() {
    let Some(kernel) = kernel() else { return };
    let entry = &POLICIES[0];
    let mut case = (entry.draw)(&mut Dice::new(4));
    let run = kernel.run(entry, &case, &case.params).unwrap();
    assert_eq!((&run.outcomes, &run.after), (&case.outcomes, &case.after));
    // Average, since when idle, count and flag of another queue: the kernel starts from what it is given.
    case.before[..8].copy_from_slice(&(1u64 << 50).to_le_bytes());
    assert_ne!(kernel.run(entry, &case, &case.params).unwrap(), run);
}

#[test]
fn search__finds_the_last_bit_of_a_weight() {
    let Some(kernel) = kernel() else { return };
    let mut all = changes(OBJECT, &POLICIES[0]);
    all.retain(|change| change.field.name == "w_q32");
    assert_eq!(all.len(), 2);
    search(&kernel, &POLICIES[0], &mut all, 3, 64).unwrap();
    assert!(all.iter().all(|change| change.noticed));
}

#[test]
fn load__refuses_what_is_no_program() {
    if kernel().is_some() {
        assert!(matches!(Kernel::load(b"no object at all"), Err(Refusal::Rejected(_))));
    }
}
