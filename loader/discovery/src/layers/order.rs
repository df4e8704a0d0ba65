//! The order of layers that the user declares (LAY-332).

use crate::env::{Environment, Variable};
use crate::settings::Settings;
use crate::text::Text;
use alloc::vec::Vec;
use os::memory::{Grow, OutOfMemory};

/// The declarations of the user about the order of layers, in the user's words.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct UserOrder {
    /// Value of `VK_LOADER_LAYERS_ORDER`.
    pub variable: Text,
    /// Values of `layer_order` in the settings file.
    pub settings: Vec<Text>,
    /// Path of the settings file.
    pub path: Text,
}

impl UserOrder {
    /// Reads `VK_LOADER_LAYERS_ORDER` and the settings file.
    ///
    /// # Errors
    /// Memory ran out.
    pub fn read(environment: &Environment<'_>, settings: Option<&Settings>) -> Result<Self, OutOfMemory> {
        let mut order = Self {
            variable: environment.get(Variable::LayersOrder).unwrap_or_default().into(),
            ..Self::default()
        };
        if let Some(settings) = settings.filter(|settings| !settings.layer_order.is_empty()) {
            order.path = Text::try_new(&settings.path)?;
            for chain in &settings.layer_order {
                order.settings.try_push(Text::try_new(chain)?)?;
            }
        }
        Ok(order)
    }

    /// Returns `true` if the user declares no order.
    pub fn is_empty(&self) -> bool {
        self.variable.is_empty() && self.settings.is_empty()
    }
}
