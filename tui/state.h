/* SPDX-License-Identifier: MIT
 * All that the live screen is at one moment. Events change it (keys, samples, the clock, the terminal's
 * size); views show it; what is to be done outside of it comes out as effects. Knows no terminal, no
 * clock and no session.
 */
#ifndef TUI_STATE_H
#define TUI_STATE_H

#include "tachyscope/tachyscope.h"
#include "tui/key.h"
#include "tui/spool.h"
#include "tui/tally.h"

enum view {
	VIEW_FUNCTIONS,
	VIEW_TREE,
	VIEW_FLAME,
	VIEW_THREADS,
	VIEW_TASKS,
	VIEW_LINES,
	VIEW_OPCODES,
	VIEW_OUTPUT,
	VIEW_HELP,
	VIEW_N
};

/* What a view's rows are in order of. */
enum sort {
	SORT_OWN,
	SORT_OWN_RECENT,
	SORT_TOTAL,
	SORT_TOTAL_RECENT,
	SORT_NAME,
	SORT_ORDER, /* as they are in the file; threads: oldest first */
	SORT_N
};

struct row {
	uint32_t id;
	uint64_t key; /* larger first */
};

struct list {
	VEC(struct row) rows;
	size_t cursor, top; /* the chosen row, the first one shown */
	uint32_t chosen;    /* id of the chosen row, followed when the order changes; NO_ID: row 0 */
	enum sort sort;
};

enum prompt { PROMPT_NONE, PROMPT_FILTER, PROMPT_SAVE_SCREEN, PROMPT_SAVE_PROFILE, PROMPT_TYPE };

#define PROMPT_MAX  512u
#define MESSAGE_MAX 256u
#define MINUTE      60u

enum effect_kind {
	EFFECT_QUIT,
	EFFECT_INTERRUPT, /* Ctrl-C */
	EFFECT_SUSPEND,
	EFFECT_REDRAW,    /* the terminal's contents are not what they should be */
	EFFECT_RATE,      /* `rate_hz` */
	EFFECT_MODE,      /* `mode` */
	EFFECT_SAVE_SCREEN, /* `text`: path */
	EFFECT_SAVE_PROFILE, /* `text`: path, `format` */
	EFFECT_SOURCE,    /* wanted: the file `text`; comes back by state_source */
	EFFECT_TYPE       /* `text` for the program's stdin */
};

struct effect {
	enum effect_kind kind;
	double rate_hz;
	enum tachy_mode mode;
	const struct tachy_format *format;
	char text[PROMPT_MAX];
};

#define EFFECTS_MAX 8u

struct source {
	const char *file; /* whose text this is or will be; NULL none */
	char *bytes;      /* owned */
	bool asked;
	VEC(uint32_t) starts; /* of each line in bytes; one more for the end */
};

struct facts {
	int64_t pid;
	char command[512], version[24];
	double rate_hz; /* wanted; 0: max */
	enum tachy_mode mode;
	bool has_program; /* its output is kept, and it may be typed to */
	bool can_type;
};

struct state {
	struct facts facts;
	struct tally tally;
	/* what is looked at */
	enum view view, before_help;
	struct list lists[VIEW_N];
	struct selection selection;
	uint32_t thread_before; /* that `t` goes back to */
	uint32_t function;      /* of the lines and opcodes; NO_ID: the hottest */
	uint32_t zoom;          /* node that fills the flame graph */
	uint32_t flame;         /* chosen node there */
	char filter[PROMPT_MAX];
	bool frozen, trends, hot_path;
	unsigned refresh;       /* index into state_refresh_hz */
	/* being typed */
	enum prompt prompt;
	char line[PROMPT_MAX];
	size_t format;          /* index into tachy_formats, of the profile to be saved */
	/* the world */
	unsigned rows, cols;
	int64_t now_ns, start_ns; /* monotonic */
	struct tachy_stats stats, stats_before; /* the newest, and those of about a second ago */
	int64_t stats_before_ns;
	uint64_t dropped;
	double cpu_s;           /* of the target, at cpu_ns */
	int64_t cpu_ns;
	double cpu_share;       /* of one core, lately; < 0 unknown */
	double self_share, rate_got; /* likewise, and ticks a second */
	uint16_t minute[MINUTE]; /* thousandths of a core in each second, newest at minute_at */
	unsigned minute_at, minute_n;
	const struct spool *spool; /* borrowed; NULL none */
	char banner[MESSAGE_MAX];  /* why sampling has ended; "" it goes on */
	char message[MESSAGE_MAX];
	int64_t message_until_ns;
	struct source source;
	struct effect effects[EFFECTS_MAX];
	size_t n_effects;
	int status;             /* TACHY_ENOMEM once memory was short: what is shown is incomplete */
};

extern const unsigned state_refresh_hz[];

int state_init(struct state *state, const struct facts *facts, int64_t now_ns);
void state_done(struct state *state);

/* ---- events ---- */
void state_key(struct state *state, struct key key);
void state_resize(struct state *state, unsigned rows, unsigned cols);
void state_event(struct state *state, const struct tachy_live_event *event);
/* The clock: adds up what has come, renews the rows of the view. */
void state_tick(struct state *state, int64_t now_ns);
void state_stats(struct state *state, const struct tachy_stats *stats, uint64_t dropped);
/* CPU seconds of the target since it began. */
void state_cpu(struct state *state, double cpu_s);
void state_ended(struct state *state, const char *why);
/* The outcome of a save, or another line for the person. */
void state_message(struct state *state, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* What EFFECT_SOURCE asked for; `bytes` belongs to the state then. NULL: it cannot be read. */
void state_source(struct state *state, char *bytes, size_t size);

/* ---- for views and keys ---- */
/* The next thing to be done; false: none. */
bool state_effect(struct state *state, struct effect *ret_effect);
struct effect *state_want(struct state *state, enum effect_kind kind);
/* The function whose lines are shown; NO_ID none. */
uint32_t state_function(const struct state *state);
/* Rows that a list has on this screen. */
unsigned state_page(const struct state *state);
/* Milliseconds between two screens. */
unsigned state_period_ms(const struct state *state);

#endif
