//! Builds the markers and queues of a scheme: policies by the host of a header, native parts by one file for each family.

mod adaptive_red;
mod cake;
mod droptail;
mod ideal;
mod ns2;
mod pie;
mod sfq;

use super::{LinkContext, Part, Role, Scheme};
use crate::error::Result;
use crate::marker::{Marker, PolicyMarker};
use crate::queue::{Bands, Dropper, Fifo, HostScheduler, Policy, Queue};
use crate::rng::{Purpose, Stream};
use mousehole_policy::Params;
use mousehole_scheme::scheme::SchemePart;

/// Returns the markers of a scheme, which stand before its queue, as one; [`Marker::None`] if it
/// has none.
///
/// # Errors
/// [`crate::error::Error::Field`] when a value does not fit the link.
pub fn build_marker(scheme: &Scheme, context: LinkContext) -> Result<Marker> {
    let markers = scheme.scheme_parts().filter(|one| one.part().role() == Role::Marker);
    Ok(Marker::chain(markers.map(|one| build_placed_marker(one, context)).collect::<Result<_>>()?))
}

/// Returns the queue of a scheme, empty. Hashes and chance are seeded by the context's seed and
/// link.
///
/// # Errors
/// [`crate::error::Error::Field`] when a value does not fit the link.
pub fn build_queue(scheme: &Scheme, context: LinkContext) -> Result<Queue> {
    let placed = scheme.scheme_parts().find(|one| one.part().role() == Role::Queue);
    let placed = placed.expect("parsing ends in a queue");
    match placed.params(context)? {
        Some(params) if placed.part().is_scheduler() => {
            let hash = Stream::new(context.seed, Purpose::Hash, context.link).draw_at(0);
            Ok(Queue::Bands(Box::new(Bands::new(params, hash))))
        }
        Some(params) => {
            Ok(Queue::Fifo(Fifo::new(context.buffer, Policy::Dropper(Box::new(Dropper::new(params))))))
        }
        None => {
            let Part::Native(part) = placed.part() else { unreachable!("a policy has parameters") };
            (part.check)(&placed.values(), context)?;
            build_native_queue(placed, context)
        }
    }
}

/// Returns the queue of one user at the sending host for a scheme that shapes to a profile; `None` for the others.
///
/// # Errors
/// [`crate::error::Error::Field`] when a value does not fit the link.
pub fn build_host_queue(scheme: &Scheme, context: LinkContext) -> Result<Option<Queue>> {
    let shapes = |one: &SchemePart| matches!(one.part(), Part::Policy(policy) if policy.shapes());
    let Some(params) =
        scheme.scheme_parts().find(shapes).map(|one| one.params(context)).transpose()?.flatten()
    else {
        return Ok(None);
    };
    let exempts_acks = !params.holds_acks();
    Ok(Some(Queue::HostScheduler(Box::new(HostScheduler::new(params, exempts_acks, context.buffer)))))
}

/// Returns one marker of a scheme, a policy or a native one.
///
/// # Errors
/// [`crate::error::Error::Field`] when a value does not fit the link.
fn build_placed_marker(placed: SchemePart, context: LinkContext) -> Result<Marker> {
    let of_policy = |params: Params| Marker::from_policy(PolicyMarker::new(params, context.marker_seed()));
    Ok(match placed.params(context)? {
        Some(params) => of_policy(params),
        None => build_native_marker(placed),
    })
}

/// Returns a native marker, whose values were checked. It panics for a name that no native marker
/// has.
fn build_native_marker(placed: SchemePart) -> Marker {
    match placed.part().name() {
        "no-hint" => Marker::NoHint,
        "ns2-sfd" => ns2::build_sfd(&placed.values()),
        other => unreachable!("nothing builds the marker {other}"),
    }
}

/// Returns a native queue, whose values have the right kinds and ranges. It panics for a name that
/// no native queue has.
///
/// # Errors
/// [`crate::error::Error::Field`] when a value does not fit the link.
fn build_native_queue(placed: SchemePart, context: LinkContext) -> Result<Queue> {
    let values = &placed.values();
    Ok(match placed.part().name() {
        "droptail" => droptail::build_droptail(values, context),
        "ared" => adaptive_red::build_ared(values, context)?,
        "pie" => pie::build_pie(values),
        "sfq" => sfq::build_sfq(values, context),
        "cake" => cake::build_cake(values, context),
        "srpt" => ideal::build_srpt(values),
        "las" => ideal::build_las(values),
        "empty" => ideal::build_empty(),
        "ns2-red" => ns2::build_red(values, context)?,
        "ns2-dsred" => ns2::build_dsred(values, context)?,
        "ns2-rio" => ns2::build_rio(values, context)?,
        other => unreachable!("nothing builds the queue {other}"),
    })
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn native_parts__are_built_as_what_they_are() {
        for part in mousehole_scheme::parts::NATIVE_PARTS {
            match part.role {
                Role::Queue => {
                    let scheme = Scheme::parse(part.name).unwrap();
                    assert!(build_queue(&scheme, LinkContext::EXAMPLE).is_ok(), "{}", part.name);
                }
                Role::Marker => {
                    let scheme = Scheme::parse(&format!("{}|droptail", part.name)).unwrap();
                    let built = build_marker(&scheme, LinkContext::EXAMPLE).unwrap();
                    assert!(!matches!(built, Marker::None), "{}", part.name);
                }
            }
        }
    }
}
