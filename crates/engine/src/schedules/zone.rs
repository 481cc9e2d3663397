//! IANA time zones by name, with a suggestion for a name that is unknown.

use domain::near::nearest;
use jiff::tz::TimeZone;

use super::TriggerError;
use super::trigger::quoted;

/// Files of a time zone database that are no time zones, or another on every machine.
const NO_ZONES: &[&str] = &["localtime", "posixrules", "factory", "leapseconds", "tzdata.zi"];

/// The time zone with this name; `None`: UTC.
pub(super) fn zone(name: Option<&str>) -> Result<TimeZone, TriggerError> {
    let Some(name) = name.map(str::trim) else { return Ok(TimeZone::UTC) };
    let refuse = || TriggerError::Zone { name: quoted(name, 60), near: near(name) };
    if !usable(name) {
        return Err(refuse());
    }
    TimeZone::get(name).map_err(|_| refuse())
}

/// The name of a time zone as the database spells it.
pub(super) fn spelled(zone: &TimeZone) -> String {
    zone.iana_name().unwrap_or("UTC").to_owned()
}

fn usable(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    !NO_ZONES.contains(&name.as_str()) && !name.starts_with("posix/") && !name.starts_with("right/")
}

/// The known name that is most similar: by its city, else as a whole.
fn near(name: &str) -> Option<String> {
    if name.len() > 60 {
        return None;
    }
    let known: Vec<String> =
        jiff::tz::db().available().map(|known| known.as_str().to_owned()).filter(|known| usable(known)).collect();
    let fold = |text: &str| text.to_lowercase().replace([' ', '-'], "_");
    let city = |text: &str| fold(text.rsplit('/').next().unwrap_or(text));
    let lower: Vec<String> = known.iter().map(|known| fold(known)).collect();
    let wanted = fold(name);
    let whole = nearest(&wanted, lower.iter().map(String::as_str));
    let cities: Vec<String> = known.iter().map(|known| city(known)).collect();
    let wanted_city = city(name);
    let by_city = nearest(&wanted_city, cities.iter().map(String::as_str));
    // A city that is right but for its region, then a name that is nearly right, then a city that is nearly right.
    let at = cities
        .iter()
        .position(|city| *city == wanted_city)
        .or_else(|| lower.iter().position(|known| Some(known.as_str()) == whole))
        .or_else(|| cities.iter().position(|city| Some(city.as_str()) == by_city))?;
    known.get(at).cloned()
}
