//! The functions of `shim.c`. All are pure: they read and write only what their pointers name.

use crate::base::{Backlog, ColourBacklog, View};
use crate::{aggregate_marker, lfp, policer, size_history, token_bucket};
use crate::{demotion, rio_ps, shred, shred_edge, window_marker};
use crate::{flow_meter, multi_red, promotion, red, sfd, threshold_marker};

unsafe extern "C" {
    pub(crate) fn mh_shim_red_average(
        params: &red::Params,
        avg_q32: u64,
        queue_q32: u64,
        idle_ns: u64,
    ) -> u64;
    pub(crate) fn mh_shim_red_probability(params: &red::Params, avg_q32: u64) -> u64;
    pub(crate) fn mh_shim_red_packet(
        params: &red::Params,
        state: &mut red::State,
        view: &View,
        backlog: &Backlog,
        now_ns: u64,
        random: u32,
    ) -> u32;
    pub(crate) fn mh_shim_multi_red_average(
        params: &multi_red::Params,
        state: &multi_red::State,
        colour: u32,
    ) -> u64;
    pub(crate) fn mh_shim_multi_red_packet(
        params: &multi_red::Params,
        state: &mut multi_red::State,
        view: &View,
        backlog: &ColourBacklog,
        now_ns: u64,
        random: u32,
    ) -> u32;
    pub(crate) fn mh_shim_multi_red_departed(
        params: &multi_red::Params,
        state: &mut multi_red::State,
        colour: u32,
        after: &ColourBacklog,
        now_ns: u64,
    );
    pub(crate) fn mh_shim_flow_meter_expired(
        params: &flow_meter::Params,
        meter: &flow_meter::Meter,
        now_ns: u64,
    ) -> u32;
    pub(crate) fn mh_shim_flow_meter_packet(
        params: &flow_meter::Params,
        meter: &mut flow_meter::Meter,
        view: &View,
        now_ns: u64,
    ) -> u32;
    pub(crate) fn mh_shim_threshold_marker_colour(
        params: &threshold_marker::Params,
        meter: &flow_meter::Meter,
    ) -> u32;
    pub(crate) fn mh_shim_promotion_packet(
        params: &promotion::Params,
        state: &mut promotion::State,
        threshold: u32,
        count: u32,
        random: u32,
    ) -> u32;
    pub(crate) fn mh_shim_sfd_expired(params: &sfd::Params, flow: &sfd::Flow, now_ns: u64) -> u32;
    pub(crate) fn mh_shim_sfd_packet(
        params: &sfd::Params,
        flow: &mut sfd::Flow,
        view: &View,
        now_ns: u64,
        random: u32,
    ) -> u32;
    pub(crate) fn mh_shim_token_bucket_refill(
        params: &token_bucket::Params,
        bucket: &mut token_bucket::State,
        now_ns: u64,
    );
    pub(crate) fn mh_shim_token_bucket_conforms(
        params: &token_bucket::Params,
        bucket: &token_bucket::State,
        tokens: u32,
    ) -> u32;
    pub(crate) fn mh_shim_token_bucket_take(
        params: &token_bucket::Params,
        bucket: &mut token_bucket::State,
        tokens: u32,
    );
    pub(crate) fn mh_shim_token_bucket_take_clipped(
        params: &token_bucket::Params,
        bucket: &mut token_bucket::State,
        tokens: u32,
    );
    pub(crate) fn mh_shim_token_bucket_packet(
        params: &token_bucket::Params,
        bucket: &mut token_bucket::State,
        tokens: u32,
        now_ns: u64,
    ) -> u32;
    pub(crate) fn mh_shim_token_bucket_wait_ns(
        params: &token_bucket::Params,
        bucket: &token_bucket::State,
        tokens: u32,
    ) -> u64;
    pub(crate) fn mh_shim_token_bucket_percent_q16(
        params: &token_bucket::Params,
        bucket: &token_bucket::State,
    ) -> u64;
    pub(crate) fn mh_shim_policer_packet(
        params: &policer::Params,
        policer: &mut policer::State,
        view: &View,
        now_ns: u64,
    ) -> u32;
    pub(crate) fn mh_shim_aggregate_marker_packet(
        params: &aggregate_marker::Params,
        marker: &mut aggregate_marker::State,
        view: &View,
        now_ns: u64,
    ) -> u32;
    pub(crate) fn mh_shim_size_history_flow_end(
        params: &size_history::Params,
        history: &mut size_history::State,
        size: u32,
    );
    pub(crate) fn mh_shim_lfp_packet(
        params: &lfp::Params,
        flow: &mut lfp::Flow,
        state: &mut lfp::State,
        view: &View,
        now_ns: u64,
    ) -> u32;
    pub(crate) fn mh_shim_lfp_flow_end(params: &lfp::Params, state: &mut lfp::State, packets: u32);
    pub(crate) fn mh_shim_lfp_expired(params: &lfp::Params, flow: &lfp::Flow, now_ns: u64) -> u32;
    pub(crate) fn mh_shim_rio_ps_threshold(params: &rio_ps::Params, state: &rio_ps::State) -> u32;
    pub(crate) fn mh_shim_rio_ps_is_short(
        params: &rio_ps::Params,
        state: &rio_ps::State,
        flow: &flow_meter::Meter,
    ) -> u32;
    pub(crate) fn mh_shim_rio_ps_expired(
        params: &rio_ps::Params,
        flow: &flow_meter::Meter,
        now_ns: u64,
    ) -> u32;
    pub(crate) fn mh_shim_rio_ps_packet(
        params: &rio_ps::Params,
        flow: &mut flow_meter::Meter,
        state: &rio_ps::State,
        view: &View,
        now_ns: u64,
    ) -> u32;
    pub(crate) fn mh_shim_rio_ps_control(
        params: &rio_ps::Params,
        state: &mut rio_ps::State,
        counts: &rio_ps::Counts,
        now_ns: u64,
    );
    pub(crate) fn mh_shim_shred_probability(
        params: &shred::Params,
        avg_q32: u64,
        hint: u64,
        hint_avg_q32: u64,
    ) -> u64;
    pub(crate) fn mh_shim_shred_packet(
        params: &shred::Params,
        state: &mut shred::State,
        view: &View,
        backlog: &Backlog,
        now_ns: u64,
        random: u32,
    ) -> u32;
    pub(crate) fn mh_shim_shred_edge_packet(
        params: &shred_edge::Params,
        flow: &mut shred_edge::Flow,
        view: &View,
    ) -> u32;
    pub(crate) fn mh_shim_window_marker_packet(
        params: &window_marker::Params,
        view: &View,
        random: u32,
    ) -> u32;
    pub(crate) fn mh_shim_demotion_expired(
        params: &demotion::Params,
        flow: &flow_meter::Meter,
        now_ns: u64,
    ) -> u32;
    pub(crate) fn mh_shim_demotion_packet(
        params: &demotion::Params,
        flow: &mut flow_meter::Meter,
        view: &View,
        now_ns: u64,
    ) -> u32;
}

#[cfg(test)]
unsafe extern "C" {
    pub(crate) fn mh_shim_mul_q64(a: u64, f_q64: u64) -> u64;
    pub(crate) fn mh_shim_mul_q32(a: u64, f_q32: u64) -> u64;
    pub(crate) fn mh_shim_pow_q64(base_q64: u64, exponent: u64) -> u64;
}
