//! Computes the order that a chain of layers should have, and the value of the variable that sets this order.

use crate::report::ActiveLayer;
use promises::layer_order::{Rule, broken};

/// Two layers in an order that a rule advises against.
pub(crate) struct Warning<'a> {
    /// The layer that is nearer to the program.
    pub(crate) above: &'a str,
    /// The layer that is nearer to the driver.
    pub(crate) below: &'a str,
    /// The rule that the order of the layers breaks.
    pub(crate) rule: &'static Rule,
    /// `true` if the program's list of layers determines the order of the two layers. The program's list takes precedence over the
    /// variable.
    pub(crate) is_of_program: bool,
}

/// Positions of two layers in the chain. The first layer belongs above the second.
type Pair = (usize, usize);

/// Returns the warnings about a chain.
pub(crate) fn warnings(chain: &[ActiveLayer]) -> Vec<Warning<'_>> {
    let usual: Vec<usize> = (0..chain.len()).collect();
    let fixed = of_program(chain);
    let describe = |(below, above): Pair| {
        let rule = broken(&chain[above].name, &chain[below].name)?;
        Some(Warning {
            above: &chain[above].name,
            below: &chain[below].name,
            rule,
            is_of_program: fixed.contains(&(above, below)),
        })
    };
    wrong(chain, &usual).into_iter().filter_map(describe).collect()
}

/// Returns the value of `VK_LOADER_LAYERS_ORDER` that corrects the order of the layers, as far as the variable can. `before` is the
/// variable's current value, which the returned value also contains. Returns `None` if the variable changes nothing.
pub(crate) fn remedy(chain: &[ActiveLayer], before: &str) -> Option<String> {
    let fixed = of_program(chain);
    let mut pairs: Vec<Pair> = Vec::new();
    let mut order: Vec<usize> = (0..chain.len()).collect();
    // When a layer moves down, it may pass another layer that belongs below it. Therefore, the loop continues until no new pair is in the
    // wrong order.
    loop {
        let known = pairs.len();
        for pair in wrong(chain, &order) {
            pairs.push(pair);
            let edges: Vec<Pair> = fixed.iter().chain(&pairs).copied().collect();
            match sorted(chain.len(), &edges) {
                Some(better) => order = better,
                None => {
                    pairs.pop();
                }
            }
        }
        if pairs.len() == known {
            break;
        }
    }
    let texts = pairs
        .iter()
        .map(|&(above, below)| format!("{}>{}", chain[above].name, chain[below].name));
    let mut texts: Vec<String> = texts.collect();
    if texts.is_empty() {
        return None;
    }
    texts.extend((!before.is_empty()).then(|| before.to_owned()));
    Some(texts.join(","))
}

/// Returns the pairs of layers that are in the wrong order.
fn wrong(chain: &[ActiveLayer], order: &[usize]) -> Vec<Pair> {
    let mut found = Vec::new();
    for (place, &above) in order.iter().enumerate() {
        let below = order[place + 1..].iter();
        let is_wrong = |below: &&usize| broken(&chain[above].name, &chain[**below].name).is_some();
        found.extend(below.filter(is_wrong).map(|&below| (below, above)));
    }
    found
}

/// Returns the pairs whose order the program determines by its list of layers. There are no such pairs if a settings file lists the layers.
fn of_program(chain: &[ActiveLayer]) -> Vec<Pair> {
    if chain.iter().any(|layer| layer.enabled_by == "settings") {
        return Vec::new();
    }
    let places = |from: usize| (from..chain.len()).filter(|&place| chain[place].is_asked_for);
    places(0)
        .flat_map(|above| places(above + 1).map(move |below| (above, below)))
        .collect()
}

/// Sorts positions in the same way as the library: repeatedly picks the first position that may come next. Returns `None` if the pairs
/// contradict each other.
fn sorted(count: usize, pairs: &[Pair]) -> Option<Vec<usize>> {
    let mut order = Vec::with_capacity(count);
    while order.len() < count {
        let is_next = |place: &usize| {
            let mut above = pairs.iter().filter(|pair| pair.1 == *place);
            !order.contains(place) && above.all(|pair| order.contains(&pair.0))
        };
        order.push((0..count).find(is_next)?);
    }
    Some(order)
}
