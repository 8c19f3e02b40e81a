//! Which datagram flows have a profile of Quality of Outcome that the user gave.

use super::plan::Plan;
use crate::error::{Error, Result, quote};
use crate::outcome_profile::{FIELD, Needs};
use crate::traffic::Traffic;
use crate::traffic::class::FlowClass;
use crate::traffic::connection::Kind;
use crate::traffic::model::Model;

/// What the flows of a source need, or those of one of its classes.
pub type Needed = (u16, Option<FlowClass>, Needs);

/// Flows of datagrams, and the names under which a user may mean them.
struct Target<'a> {
    number: u16,
    group: Option<FlowClass>,
    /// What tables call them, and what they are.
    names: [&'a str; 2],
}

/// Returns what flows need by the user's profiles. A profile is of the flows that tables have under its class's name,
/// else of all of that class. `sources` and `groups` are those of the run's result.
///
/// # Errors
/// [`Error::Field`] naming `traffic.qoo` for a profile of a class that sends no datagrams in this traffic.
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

/// Returns the percentiles that profiles ask for, each once.
pub fn list_percentiles(plan: &Plan) -> Vec<f64> {
    let mut all: Vec<f64> = plan.profiles.iter().flat_map(|one| &one.needs.delays).map(|(p, _)| *p).collect();
    all.sort_unstable_by(f64::total_cmp);
    all.dedup();
    all
}
