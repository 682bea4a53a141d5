/* SPDX-License-Identifier: MIT
 * Facts about rights: nothing is known on this platform.
 */
#include "os/permission.h"

void permission_gather(pid_t pid, struct permission_facts *ret_facts)
{
	*ret_facts = (struct permission_facts){.pid = pid, .yama = -1};
}
