/* A driver that executes END as soon as the loader calls it. The compiler's command line defines END. */
#include <stdlib.h>
#include <unistd.h>

int vk_icdNegotiateLoaderICDInterfaceVersion(unsigned *version) {
    (void)version;
    for (;;) {
        END;
    }
}
