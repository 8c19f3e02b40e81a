//! Assigns the user's profiles of Quality of Outcome to flows of datagrams.

use super::plan::Plan;
use crate::error::{Error, Result, quote};
use crate::outcome_profile::{FIELD, Needs};
use crate::traffic::Traffic;
use crate::traffic::class::FlowClass;
use crate::traffic::connection::Kind;
use crate::traffic::model::Model;

/// The needs of the datagram flows of a source, or of those of one of its classes: number of the
/// source, class (`None` for all of the source), needs.
pub type Needed = (u16, Option<FlowClass>, Needs);

/// A set of datagram flows, and the names by which a profile may refer to it.
struct Target<'a> {
    number: u16,
    group: Option<FlowClass>,
    /// Its name in tables, and the plural name of its class.
    names: [&'a str; 2],
}

/// Returns the needs of the sets of datagram flows that have a profile of the user's: the profile
/// that refers to the set's name in tables, else the one that refers to its class. It is empty
/// without profiles. `sources` and `groups` are those of the run's result.
///
/// # Errors
/// [`Error::Field`] naming `traffic.qoo` for a profile of a class that sends no datagrams in this
/// traffic.
pub fn find_needs(
    plan: &Plan,
    traffic: &Traffic,
    sources: &[(u16, String)],
    groups: &[(u16, FlowClass, String)],
) -> Result<Vec<Needed>> {
    if plan.profiles.is_empty() {
        return Ok(Vec::new());
    }
    let targets = list_targets(plan, traffic, sources, groups);
    let names = |place: usize| targets.iter().map(move |target| target.names[place]);
    if let Some(idle) = plan.profiles.iter().find(|one| !names(0).chain(names(1)).any(|name| one.is_of(name)))
    {
        let mut known: Vec<&str> = names(1).chain(names(0)).collect();
        known.sort_unstable();
        known.dedup();
        let allowed = match known[..] {
            [] => "left out: this traffic has no datagrams".to_owned(),
            _ => format!("a class of this traffic that has datagrams: {}", known.join(", ")),
        };
        let fault = format!("is about {}, of which no datagrams are sent", idle.class);
        return Err(Error::faulty(FIELD, quote(&idle.text), fault, allowed));
    }
    let found = targets.iter().filter_map(|target| {
        let of = |place: usize| plan.profiles.iter().find(|one| one.is_of(target.names[place]));
        Some((target.number, target.group, of(0).or_else(|| of(1))?.needs.clone()))
    });
    Ok(found.collect())
}

/// Returns the sets of datagram flows of this traffic: each source that plays a model of datagrams,
/// then each group of recorded flows that has any.
fn list_targets<'a>(
    plan: &Plan,
    traffic: &Traffic,
    sources: &'a [(u16, String)],
    groups: &'a [(u16, FlowClass, String)],
) -> Vec<Target<'a>> {
    let modelled = plan.models().filter_map(|(number, model)| {
        let class = match model {
            Model::Voip(_) => FlowClass::Call,
            Model::Game(_) => FlowClass::Game,
            Model::VideoCall(_) => FlowClass::VideoCall,
            Model::Udp(_) => FlowClass::Other,
            _ => return None,
        };
        let (_, name) = sources.iter().find(|(known, _)| *known == number)?;
        Some(Target { number, group: None, names: [name, class.plural()] })
    });
    let recorded = groups.iter().filter(|(number, class, _)| {
        let connections = traffic.part(*number).map_or(&[][..], |part| part.connections);
        connections.iter().any(|one| one.flow_class == Some(*class) && one.kind == Kind::Datagrams)
    });
    let recorded = recorded.map(|(number, class, name)| Target {
        number: *number,
        group: Some(*class),
        names: [name, class.plural()],
    });
    modelled.chain(recorded).collect()
}

/// Returns the percentiles that profiles ask for, each once, rising.
pub fn list_percentiles(plan: &Plan) -> Vec<f64> {
    let mut all: Vec<f64> = plan.profiles.iter().flat_map(|one| &one.needs.delays).map(|(p, _)| *p).collect();
    all.sort_unstable_by(f64::total_cmp);
    all.dedup();
    all
}
