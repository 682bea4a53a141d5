/* SPDX-License-Identifier: MIT
 * Hides nothing but the order and the form.
 */
#include "export/table_processes.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "export/facts.h"

struct process_share {
	uint32_t process;
	uint64_t n_samples;
};

static int by_samples(const void *left, const void *right)
{
	const struct process_share *a = left, *b = right;
	if (a->n_samples != b->n_samples)
		return a->n_samples < b->n_samples ? 1 : -1;
	return (a->process > b->process) - (a->process < b->process);
}

static struct process_share *share_by_process(const struct profile *profile)
{
	struct process_share *shares = calloc(profile->processes.n + 1, sizeof *shares);
	if (!shares)
		return NULL;
	for (uint32_t i = 0; i < profile->processes.n; i++)
		shares[i].process = i;
	for (size_t i = 0; i < profile->counts.n; i++) {
		const struct profile_count *count = &profile->counts.at[i];
		if (count->thread < profile->threads.n &&
		    profile->threads.at[count->thread].process < profile->processes.n)
			shares[profile->threads.at[count->thread].process].n_samples +=
				count->n_samples;
	}
	qsort(shares, profile->processes.n, sizeof *shares, by_samples);
	return shares;
}

static void one_line(const struct profile *profile, const struct process_share *share,
		     char line[FACTS_LINE_MAX])
{
	const struct profile_process *process = &profile->processes.at[share->process];
	const struct strtab *strings = profile->stacks.strings;
	double percent = profile->n_samples
				 ? 100.0 * (double)share->n_samples / (double)profile->n_samples
				 : 0;
	(void)snprintf(line, FACTS_LINE_MAX, "%8llu %5.1f%% %8lld  %-9s %s",
		       (unsigned long long)share->n_samples, percent, (long long)process->pid,
		       strtab_get(strings, process->version),
		       strtab_get(strings, process->command));
}

int table_processes(const struct table *table, const struct profile *profile,
		    void (*put_line)(const struct table *table, const char *line))
{
	char line[FACTS_LINE_MAX];
	size_t n = profile->processes.n, limit = table->options->limit;
	struct process_share *shares = share_by_process(profile);
	if (!shares)
		return TACHY_ENOMEM;
	(void)snprintf(line, sizeof line, "%zu processes:", n);
	put_line(table, line);
	out_char(table->out, '\n');
	table_title(table, "  stacks  share      pid  Python    command");
	for (size_t i = 0; i < n && (limit == 0 || i < limit); i++) {
		one_line(profile, &shares[i], line);
		put_line(table, line);
	}
	if (limit > 0 && n > limit) {
		(void)snprintf(line, sizeof line, "%8s %zu more; --limit 0 shows all", "",
			       n - limit);
		put_line(table, line);
	}
	free(shares);
	return table->out->status;
}
