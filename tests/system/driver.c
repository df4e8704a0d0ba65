/* A driver that does what its build says, END, as soon as it is asked anything. */
#include <stdlib.h>
#include <unistd.h>

int vk_icdNegotiateLoaderICDInterfaceVersion(unsigned *version) {
    (void)version;
    for (;;) {
        END;
    }
}
