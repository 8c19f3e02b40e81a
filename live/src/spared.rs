//! Decides which hosts `--ab` leaves unmarked: a random share, drawn by a keyed hash of their
//! addresses.

use crate::error::{Failure, Result};
use crate::layout::Trial;
use crate::request::{Mode, Request};
use mousehole_policy::files;

/// The fewest characters that a key may have.
const LEAST_KEY: usize = 16;

/// Returns the trial that a request asks for; [`Trial::NONE`] without `--ab`. The same key draws
/// the same hosts.
///
/// # Errors
/// A sentence when the share is not from 1 % to 99 %, the key is missing, too short or given
/// without a share, or the request is not a plain `mark`.
pub fn plan_trial(request: &Request) -> Result<Trial> {
    let Some(text) = &request.ab else {
        return match &request.ab_key {
            None => Ok(Trial::NONE),
            Some(_) => {
                Err(Failure::new("--ab-key draws the hosts of --ab, which is missing, such as --ab 50%"))
            }
        };
    };
    let percent = text.strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
    let Some(percent) = percent.filter(|percent| (1.0..=99.0).contains(percent)) else {
        return Err(Failure::new(format!(
            "--ab is \"{text}\"; it must be the part of the hosts that stays unmarked, from 1% to 99%, such as 50%"
        )));
    };
    if request.mode != Mode::Mark || request.shape.is_some() {
        return Err(Failure::new(
            "--ab is for `mark`: a queue, and tokens that packets wait for, are all hosts'",
        ));
    }
    let Some(key) = request.ab_key.as_ref().filter(|key| key.len() >= LEAST_KEY) else {
        return Err(Failure::new(format!(
            "--ab-key is {}; it must have {LEAST_KEY} characters or more, and `mark --ab` draws one where none is given",
            request.ab_key.as_ref().map_or("missing".into(), |key| format!("\"{key}\""))
        )));
    };
    let word = |at: usize| {
        let digest = files::digest(format!("{key}/{at}").as_bytes());
        u64::from_str_radix(&digest[..16], 16).expect("a digest is written in hexadecimal digits")
    };
    Ok(Trial {
        key: std::array::from_fn(word),
        spared_q32: (percent / 100.0 * 4_294_967_296.0).round() as u64,
    })
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Returns a `mark` with this `--ab` and `--ab-key`.
    fn request_trial(ab: &str, key: Option<&str>) -> Request {
        Request { ab: Some(ab.into()), ab_key: key.map(String::from), ..Request::new(Mode::Mark) }
    }

    const KEY: &str = "0123456789abcdef";

    #[test]
    fn plan_trial__refuses_what_is_no_part_of_the_hosts() {
        for (text, key) in [("0%", Some(KEY)), ("100%", Some(KEY)), ("half", Some(KEY)), ("50", Some(KEY))] {
            let said = plan_trial(&request_trial(text, key)).unwrap_err().to_string();
            assert!(said.contains(&format!("--ab is \"{text}\"; it must be the part")), "{said}");
        }
        for key in [None, Some("short")] {
            assert!(
                plan_trial(&request_trial("50%", key)).unwrap_err().to_string().starts_with("--ab-key is ")
            );
        }
        let up = Request { mode: Mode::Up, ..request_trial("50%", Some(KEY)) };
        assert!(plan_trial(&up).unwrap_err().to_string().contains("--ab is for `mark`"));
        let keyed = Request { ab: None, ..request_trial("50%", Some(KEY)) };
        assert!(plan_trial(&keyed).unwrap_err().to_string().contains("--ab, which is missing"));
        assert_eq!(plan_trial(&Request::new(Mode::Mark)).unwrap(), Trial::NONE);
    }

    #[test]
    fn spares__as_many_as_asked_for_and_the_same_by_the_same_key() {
        let hosts: Vec<[u8; 16]> = (0..10_000u32)
            .map(|number| {
                let mut host = [0; 16];
                host[10..12].fill(0xff);
                host[12..].copy_from_slice(&number.to_be_bytes());
                host
            })
            .collect();
        let drawn = |ab: &str, key: &str| {
            let trial = plan_trial(&request_trial(ab, Some(key))).unwrap();
            hosts.iter().map(|host| trial.spares(host)).collect::<Vec<bool>>()
        };
        for (text, share) in [("50%", 0.5), ("10%", 0.1)] {
            let spared = drawn(text, KEY).iter().filter(|is_spared| **is_spared).count() as f64;
            assert!((spared / 10_000.0 - share).abs() < 0.03, "{text}: {spared}");
        }
        assert_eq!(drawn("50%", KEY), drawn("50%", KEY));
        let other = drawn("50%", "fedcba9876543210");
        let same = drawn("50%", KEY).iter().zip(&other).filter(|(one, other)| one == other).count();
        assert!((4_500..5_500).contains(&same), "{same}");
    }
}
