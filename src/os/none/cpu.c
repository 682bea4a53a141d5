/* SPDX-License-Identifier: MIT
 * Nothing is known about CPUs here.
 */
#include "os/cpu.h"

int cpu_pin_self(int cpu)
{
	(void)cpu;
	return TACHY_EPLATFORM;
}

int cpu_leave_self(int cpu)
{
	(void)cpu;
	return TACHY_EPLATFORM;
}

int cpu_unpin_self(void)
{
	return TACHY_EPLATFORM;
}

bool cpu_allowed(int cpu)
{
	(void)cpu;
	return false;
}

int cpu_current(void)
{
	return -1;
}

int cpu_count(void)
{
	return 1;
}

void cpu_prompt_self(bool rests)
{
	(void)rests;
}
