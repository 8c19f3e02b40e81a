//! Every scheme, one file for each family: its entry in the catalogue, and how its marker and queue are built.

#![expect(missing_docs, reason = "an entry's summary and detail are its documentation")]

pub mod adaptive_red;
pub mod cake;
pub mod codel;
pub mod contract;
pub mod demotion;
pub mod droptail;
pub mod fq_codel;
pub mod ideal;
pub mod lfp;
pub mod multi_queue;
pub mod ns2_rio;
pub mod red;
pub mod rio_ps;
pub mod sfd;
pub mod shred;
pub mod tcp_ds;

use super::catalogue::SchemeDoc;

/// Every scheme, baselines first.
pub const SCHEMES: &[SchemeDoc] = &[
    droptail::DROPTAIL,
    red::RED,
    adaptive_red::ARED,
    sfd::SFD,
    sfd::P_SFD,
    sfd::S_SFD,
    sfd::NS2_SFD,
    ns2_rio::NS2_RIO,
    rio_ps::RIO_PS,
    shred::SHRED,
    lfp::LFP,
    tcp_ds::APPL,
    tcp_ds::TCP_DS,
    tcp_ds::TCP_DS_R,
    tcp_ds::ER_TBM,
    multi_queue::PQ_SFD,
    multi_queue::WRR,
    codel::CODEL,
    codel::PIE,
    fq_codel::FQ_CODEL,
    cake::CAKE,
    demotion::PIAS,
    demotion::CT_BYTES,
    ideal::SRPT,
    ideal::LAS,
    ideal::EMPTY,
];
