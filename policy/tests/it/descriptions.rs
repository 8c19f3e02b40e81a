//! What every header says of itself.

use crate::common::shipped;
use mousehole_policy::{Params, Place, PolicyKind, Settings};

#[test]
fn policies__are_found_by_themselves() {
    let headers = std::fs::read_dir("include/mousehole").unwrap();
    let described = headers.filter(|entry| {
        let text = std::fs::read_to_string(entry.as_ref().unwrap().path()).unwrap();
        text.contains("\nMH_MARKER(") || text.contains("\nMH_DROPPER(")
    });
    assert_eq!(shipped().len(), described.count());
    assert!(shipped().iter().any(|policy| policy.kind() == PolicyKind::Dropper));
}

#[test]
fn defaults__are_allowed_and_read_back() {
    for policy in shipped() {
        let params = Settings::new(policy)
            .at(&Place::EXAMPLE)
            .unwrap_or_else(|error| panic!("{}: {error}", policy.name()));
        for parameter in policy.parameters() {
            assert!(params.number(parameter.name).is_finite(), "{} {}", policy.name(), parameter.name);
            assert!(!parameter.meaning.is_empty() && !parameter.meaning.ends_with('.'), "{}", parameter.name);
            assert!(!parameter.source.is_empty(), "{} {}", policy.name(), parameter.name);
        }
        assert!(
            !policy.summary().is_empty() && !policy.source().is_empty() && policy.detail().ends_with('.')
        );
    }
}

#[test]
fn params__refuse_values_in_words() {
    let sfd = mousehole_policy::find("sfd").unwrap();
    let error = Params::of(sfd, &[("th", "15kX")], &Place::EXAMPLE).unwrap_err();
    assert_eq!((error.parameter.as_str(), error.value.as_str()), ("th", "15kX"));
    assert!(error.allowed.starts_with("bytes (15kB) or packets (15p)"), "{}", error.allowed);
    let red = mousehole_policy::find("red").unwrap();
    let error = Params::of(red, &[("max", "8p")], &Place::EXAMPLE).unwrap_err();
    assert_eq!(
        (error.parameter.as_str(), error.allowed.as_str()),
        ("max", "at least one packet more than min")
    );
}
