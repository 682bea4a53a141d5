/* SPDX-License-Identifier: MIT
 * What the live screen costs: many functions, many threads, every view, ten screens a second. Time is the
 * CPU time of this process for one second of events and ten screens, each with one tick of the clock,
 * drawn and painted; nothing sleeps.
 *
 * usage: screen_load FUNCTIONS THREADS SAMPLES_A_SECOND ROWS COLS
 * Prints a JSON object: view -> milliseconds of CPU per second of watching.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tui/paint.h"
#include "tui/screen.h"

#define DEPTH   30u
#define SCREENS 10u
#define SECONDS 5u

struct load {
	struct state state;
	struct grid grid;
	struct paint paint;
	unsigned n_functions, n_threads, n_samples;
	uint32_t n_stacks;
	uint64_t seed;
	int64_t now_ns;
};

static uint64_t dice(struct load *load)
{
	load->seed ^= load->seed << 13;
	load->seed ^= load->seed >> 7;
	load->seed ^= load->seed << 17;
	return load->seed;
}

static double cpu_s(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void tell_names(struct load *load)
{
	struct tachy_live_event event = {.kind = TACHY_LIVE_PROCESS};
	event.process.command = "python3 load.py";
	event.process.version = "3.13.0";
	state_event(&load->state, &event);
	for (uint32_t i = 0; i < load->n_threads; i++) {
		event = (struct tachy_live_event){.kind = TACHY_LIVE_THREAD, .id = i};
		event.thread.name = "worker";
		event.thread.tid = 1000 + i;
		state_event(&load->state, &event);
	}
	for (uint32_t i = 0; i < load->n_functions; i++) {
		static char names[100000][24];
		(void)snprintf(names[i], sizeof names[i], "Class%u.function_%u", i % 97, i);
		event = (struct tachy_live_event){.kind = TACHY_LIVE_FUNCTION, .id = i};
		event.function.name = names[i];
		event.function.file = "/srv/application/package/module.py";
		event.function.first_line = (int32_t)i;
		state_event(&load->state, &event);
		event = (struct tachy_live_event){.kind = TACHY_LIVE_FRAME, .id = i};
		event.frame.function = i;
		event.frame.line = (int32_t)i + 2;
		event.frame.opcode = event.frame.base_opcode = "";
		state_event(&load->state, &event);
	}
}

/* A stack that shares its lower half with others. */
static void tell_stack(struct load *load)
{
	uint32_t parent = 0;
	if (load->n_stacks > DEPTH)
		parent = (uint32_t)(dice(load) % (load->n_stacks - 1));
	for (unsigned i = parent ? DEPTH / 2 : 0; i < DEPTH; i++) {
		struct tachy_live_event event = {.kind = TACHY_LIVE_STACK, .id = load->n_stacks};
		event.stack.parent = parent;
		event.stack.frame = (uint32_t)(dice(load) % load->n_functions);
		parent = load->n_stacks++;
		state_event(&load->state, &event);
		if (i > DEPTH / 2 && dice(load) % 3 == 0)
			break;
	}
}

static void tell_samples(struct load *load, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct tachy_live_event event = {.kind = TACHY_LIVE_SAMPLE,
						 .id = (uint32_t)(dice(load) % load->n_threads)};
		/* most samples are of stacks that were there before */
		uint64_t range = dice(load) % 4 ? 2000 : load->n_stacks;
		event.sample.stack =
			(uint32_t)(dice(load) % (range < load->n_stacks ? range : load->n_stacks));
		event.sample.n_ticks = 1 + dice(load) % 50;
		event.sample.weight_ns = event.sample.n_ticks * 1000000;
		event.sample.states = dice(load) % 2 ? TACHY_STATE_GIL : 0;
		state_event(&load->state, &event);
	}
}

static void one_screen(struct load *load)
{
	load->now_ns += 1000000000 / SCREENS;
	state_tick(&load->state, load->now_ns);
	if (screen_draw(&load->state, &load->grid) < 0 || paint_grid(&load->paint, &load->grid) < 0)
		exit(1);
}

static double measure(struct load *load, const char *keys)
{
	struct effect effect;
	for (; *keys; keys++)
		state_key(&load->state, (struct key){.code = *keys});
	while (state_effect(&load->state, &effect))
		if (effect.kind == EFFECT_SOURCE)
			state_source(&load->state, NULL, 0);
	one_screen(load);
	double before = cpu_s();
	for (unsigned i = 0; i < SECONDS * SCREENS; i++) {
		tell_samples(load, load->n_samples / SCREENS);
		one_screen(load);
	}
	return (cpu_s() - before) / SECONDS;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name, *keys;
	} views[] = {{"functions", "1"}, {"functions, filtered", "/ion_1\r"},
		     {"tree", "c2"},     {"tree, open", "eH"},
		     {"flame", "3"},     {"threads", "4"},
		     {"lines", "6"},     {"help", "h"}};
	static struct load load;
	struct facts facts = {.pid = 1, .command = "python3", .version = "3.13.0"};
	if (argc < 6)
		return 2;
	load.n_functions = (unsigned)atoi(argv[1]);
	load.n_threads = (unsigned)atoi(argv[2]);
	load.n_samples = (unsigned)atoi(argv[3]);
	load.seed = 77;
	load.now_ns = 1000000000;
	load.n_stacks = 1;
	if (load.n_functions == 0 || load.n_functions > 100000 || load.n_threads == 0 ||
	    state_init(&load.state, &facts, load.now_ns) < 0)
		return 2;
	paint_init(&load.paint, true, true);
	state_resize(&load.state, (unsigned)atoi(argv[4]), (unsigned)atoi(argv[5]));
	tell_names(&load);
	for (unsigned i = 0; i < load.n_functions; i++)
		tell_stack(&load);
	tell_samples(&load, 20000);
	for (size_t i = 0; i < sizeof views / sizeof views[0]; i++)
		(void)printf("%s\"%s\": %.2f", i ? ", " : "{", views[i].name,
			     1000 * measure(&load, views[i].keys));
	(void)printf("}\n");
	return load.state.status < 0;
}
