//! Further runs for a program that left no trace and failed.

use super::{AGAIN, Explain, KEPT, Purpose, of_probe, tell, tell_of_tries};
use crate::child::{self, Ending, Finished};
use crate::library_folder::LibraryFolder;
use crate::probe::Seen;
use crate::report::{Report, Verdict};
use crate::{causes, untraced};
use std::io;

impl Explain {
    /// Adds the first cause in a report about the probe, if a program failed with a loader of its own and the probe finds no device either. The
    /// probe has the variables and files of the program.
    pub(super) fn add_cause_beside(&self, report: &mut Report, finished: &Finished) -> io::Result<()> {
        let has_other = finished
            .graphics
            .as_deref()
            .is_some_and(|all| untraced::loader_in(all).is_some());
        if self.no_try || !has_other || finished.ending == Ending::Status(0) {
            return Ok(());
        }
        tell_of_tries();
        let probe = child::run(self.library.probe()?, self.library.limit(), KEPT)?;
        let mut beside = of_probe(&self.library, &probe, Seen::last(&probe.output).as_ref())?;
        causes::find(&mut beside, &probe, None, false);
        let mut causes = beside.dropped.into_iter().filter(|one| !one.advice.is_empty());
        if let Some(mut cause) = causes.next().filter(|_| beside.verdict == Verdict::Nothing) {
            cause
                .findings
                .push("this was tried: with the variables of the program, this library finds no device either");
            report.dropped.insert(0, cause);
        }
        Ok(())
    }

    /// Returns the reason why the program, which failed, opened no Vulkan loader, if the dynamic linker did not find the loader. Runs the
    /// program a second time with the log of the dynamic linker.
    pub(super) fn why_no_loader(
        &self,
        finished: &Finished,
        folder: Option<&LibraryFolder>,
    ) -> io::Result<Option<String>> {
        let may_lack = finished.ending != Ending::Status(0) && untraced::has_no_loader(finished.graphics.as_deref());
        if self.no_try || !may_lack || untraced::known(&self.program).is_some() {
            return Ok(None);
        }
        tell(AGAIN);
        let watched = self.watch(folder, Purpose::Linker)?;
        let name = causes::unfound(&watched.linker, causes::LINK);
        Ok(name.map(|name| untraced::lacks_loader(&name)))
    }
}
