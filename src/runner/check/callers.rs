//! Whether each principal is who the file says: by a read with its credentials, which changes
//! nothing.

use super::sheet::Sheet;
use crate::runner::rendering::Filling;
use crate::runner::words::fresh_word;
use crate::runner::world::World;
use crate::scenario::PrincipalRole;
use crate::target::operation::{Operation, ProbeSource};
use crate::target::placeholder::Placeholder;
use crate::target::principal::{Principal, Role};
use crate::target::render::{Credentials, Recipe, render};
use crate::target::request::Request;
use crate::target_check::Mark;
use std::time::Duration;

/// How long a read may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Checks every principal of the file. Whether it makes sense to go on: the owner is let in.
pub(super) async fn check(world: &World, operations: &[&Operation], sheet: &mut Sheet<'_>) -> bool {
    let principals = &world.target.principals;
    let Some(owner) = principals
        .get(&Role::Owner)
        .filter(|owner| owner.has_credentials())
    else {
        return true;
    };
    let Some(read) = readable(operations) else {
        let says = "not checked: no probe is a request that stands by itself";
        sheet.line("owner", Mark::NotChecked, says, "principals/owner");
        return true;
    };
    let junk = world
        .principal(PrincipalRole::Wrong)
        .map_or(Credentials::Without, |(_, credentials)| credentials);
    let question = format!("{} {}", read.method, path(read));
    let open = match status(world, read, (Role::Owner, owner), junk).await {
        Ok(status) => (200..300).contains(&status),
        Err(_) => false,
    };
    let mut owner_is_let_in = true;
    for (role, principal) in principals {
        let name = role.name();
        let pointer = format!("principals/{name}");
        if *role == Role::Anonymous {
            continue;
        }
        if open {
            let says = format!("not checked: {question} is answered to anybody");
            sheet.line(name, Mark::NotChecked, says, &pointer);
            continue;
        }
        let answered = status(world, read, (*role, principal), Credentials::Normal).await;
        let (mark, says) = match (answered, *role) {
            (Err(why), _) => (Mark::NotChecked, format!("not checked: {why}")),
            (Ok(status @ (401 | 403)), Role::Expired) => {
                (Mark::Right, format!("refused: {status}"))
            }
            (Ok(status @ 200..300), Role::Expired) => (
                Mark::Wrong,
                format!("{question} was answered {status}: these credentials still work"),
            ),
            (Ok(200..300), _) => (Mark::Right, "authenticated".to_owned()),
            (Ok(status @ (401 | 403)), Role::Owner) => {
                owner_is_let_in = false;
                let says = format!("{question} was answered {status}: not authenticated");
                (Mark::Useless, says)
            }
            (Ok(status @ (401 | 403)), _) => (
                Mark::Wrong,
                format!("{question} was answered {status}: not authenticated"),
            ),
            (Ok(status), _) => (
                Mark::NotChecked,
                format!("not checked: {question} was answered {status}"),
            ),
        };
        sheet.line(name, mark, says, &pointer);
    }
    owner_is_let_in
}

/// A request that only reads and needs nothing made first.
fn readable<'a>(operations: &[&'a Operation]) -> Option<&'a Request> {
    operations
        .iter()
        .flat_map(|operation| &operation.effects)
        .find_map(|probe| match &probe.source {
            ProbeSource::Request(request) if stands_alone(request) => Some(request),
            _ => None,
        })
}

fn stands_alone(request: &Request) -> bool {
    let mut alone = true;
    request.each_placeholder(&mut |placeholder| {
        alone &= !matches!(
            placeholder,
            Placeholder::Fixture(_)
                | Placeholder::Request(_)
                | Placeholder::Response(_)
                | Placeholder::Prepared(_)
                | Placeholder::Identity
                | Placeholder::GivenIdentity
        );
    });
    alone
}

async fn status(
    world: &World,
    read: &Request,
    (role, principal): (Role, &Principal),
    credentials: Credentials,
) -> Result<u16, String> {
    world.ready_token(role, PATIENCE).await?;
    let token = world.token(role);
    let mut values = Filling::new(world);
    values.marker = fresh_word();
    values.unique = fresh_word();
    values.key = Some(fresh_word());
    let rendered = render(&Recipe {
        target: &world.target,
        base: &world.bases[0].url,
        request: read,
        patches: &[],
        forms: &[],
        key: None,
        principal,
        credentials,
        token: token.as_deref(),
        values: &values,
    })
    .map_err(|error| error.to_string())?;
    world.spend(1)?;
    world
        .fetch(&rendered, PATIENCE)
        .await
        .map(|fetched| fetched.status)
}

/// The path as the file writes it, with the names of its query.
pub(super) fn path(request: &Request) -> String {
    request.path.to_string()
}
