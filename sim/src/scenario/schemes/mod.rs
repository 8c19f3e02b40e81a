//! Every scheme, one file for each family: its entry in the catalogue, and how its marker and queue are built.

#![expect(missing_docs, reason = "an entry's summary and detail are its documentation")]

pub mod droptail;
pub mod fq_codel;
pub mod red;
pub mod sfd;
pub mod tcp_ds;

use super::catalogue::SchemeDoc;

/// Every scheme, baselines first.
pub const SCHEMES: &[SchemeDoc] = &[
    droptail::DROPTAIL,
    red::RED,
    sfd::SFD,
    sfd::P_SFD,
    sfd::S_SFD,
    sfd::NS2_SFD,
    tcp_ds::APPL,
    tcp_ds::ER_TBM,
    fq_codel::FQ_CODEL,
];
