//! Steps with messengers, report callbacks, and messages of the program.

use loader_tests::ash::vk::{self, Handle};
use loader_tests::vk::Commands;

use super::{Player, attempt};

impl Player<'_> {
    pub(super) fn create_messenger(&mut self, words: &[&str]) {
        let info = self.messages.create_info();
        let (this, mut made) = (&*self, vk::DebugUtilsMessengerEXT::null());
        let answer = attempt!(
            this,
            PFN_vkCreateDebugUtilsMessengerEXT(this.instance, &info, this.callbacks(words), &mut made)
        );
        self.noted("messenger", answer);
        self.messenger = made;
    }

    pub(super) fn send_message(&self) {
        let data = vk::DebugUtilsMessengerCallbackDataEXT::default().message(c"from the program");
        let severity = vk::DebugUtilsMessageSeverityFlagsEXT::WARNING;
        let kind = vk::DebugUtilsMessageTypeFlagsEXT::GENERAL;
        attempt!(
            self,
            PFN_vkSubmitDebugUtilsMessageEXT(self.instance, severity, kind, &data)
        );
        let flags = vk::DebugReportFlagsEXT::WARNING;
        let kind = vk::DebugReportObjectTypeEXT::INSTANCE;
        let (prefix, text) = (c"program".as_ptr(), c"from the program".as_ptr());
        let number = self.instance.as_raw();
        attempt!(
            self,
            PFN_vkDebugReportMessageEXT(self.instance, flags, kind, number, 3, 4, prefix, text)
        );
    }

    pub(super) fn destroy_messenger(&self, words: &[&str]) {
        attempt!(
            self,
            PFN_vkDestroyDebugUtilsMessengerEXT(self.instance, self.messenger, self.callbacks(words))
        );
    }

    pub(super) fn create_report(&mut self, words: &[&str]) {
        let info = self.reports.create_info();
        let (this, mut made) = (&*self, vk::DebugReportCallbackEXT::null());
        let answer = attempt!(
            this,
            PFN_vkCreateDebugReportCallbackEXT(this.instance, &info, this.callbacks(words), &mut made)
        );
        self.noted("report", answer);
        self.report = made;
    }

    pub(super) fn destroy_report(&self, words: &[&str]) {
        attempt!(
            self,
            PFN_vkDestroyDebugReportCallbackEXT(self.instance, self.report, self.callbacks(words))
        );
    }
}
