/* SPDX-License-Identifier: MIT
 * VmHWM of /proc/self/status.
 */
#include "os/self.h"

#include <stdlib.h>
#include <string.h>

#include "base/io.h"

uint64_t self_peak_rss_kb(void)
{
	char text[4096];
	if (io_read_small("/proc/self/status", text, sizeof text) <= 0)
		return 0;
	const char *line = strstr(text, "\nVmHWM:");
	return line ? strtoull(line + strlen("\nVmHWM:"), NULL, 10) : 0;
}
