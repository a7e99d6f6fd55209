/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * `top`: the view on a terminal, by ncurses.
 */

#include "tm.h"
#include "top.h"

#ifdef TM_NCURSES

#include <curses.h>
#include <stdlib.h>
#include <unistd.h>

/* A key is handled, and a signal noticed, within this time also if the terminal delivers nothing. */
#define SLICE_MS 100
#define INTERVAL_MIN_S 0.1
#define INTERVAL_MAX_S 60

static const char *const help[] = {
	"q, Ctrl-C     quit",
	"h, ?          this help; any key leaves it",
	"space, p      pause, continue",
	"+, -          longer, shorter interval (0.1 to 60 s)",
	"s             sort the queues by the next of: queue, pps, packets, errors",
	"n, N          next, previous port",
	"a             all ports",
	"d             drops by the driver's account (/mlxpmd/drops), which waits for the device",
	"1 2 3 4 5     show or hide ports, queues, drops, clock, interrupts",
	"arrows, page up and down, Home, End   scroll",
};

/* What is shown at the moment. */
struct screen {
	size_t top;		/* first line of the view that is shown, below the head */
	size_t lines;		/* of the view */
	bool help, quit;
};

static void
line_draw(int y, const struct top_line *l)
{
	static const attr_t looks[] = {
		[TOP_PLAIN] = A_NORMAL, [TOP_BOLD] = A_BOLD, [TOP_HEAD] = A_REVERSE, [TOP_ALERT] = A_BOLD,
	};
	short color = l->look == TOP_ALERT && has_colors() ? 1 : 0;

	attrset(looks[l->look] | COLOR_PAIR(color));
	mvaddnstr(y, 0, l->text, COLS);
	attrset(A_NORMAL);
	/* A heading is a bar over the whole width. */
	if (l->look == TOP_HEAD)
		mvchgat(y, 0, -1, A_REVERSE, 0, NULL);
}

static void
help_draw(const struct top *t)
{
	mvprintw(0, 0, "%.*s", COLS, "dpdk-test-mlx top: keys");
	for (int i = 0; i < (int)RTE_DIM(help); i++)
		mvaddnstr(2 + i, 2, help[i], COLS - 2);
	mvprintw(3 + RTE_DIM(help), 2, "socket: %.*s", COLS - 10, t->program.path);
}

static void
screen_draw(struct screen *s, const struct top *t)
{
	struct top_view v = { .n = 0 };
	size_t rows = LINES > 1 ? LINES - 1 : 1, last;

	erase();
	if (s->help) {
		help_draw(t);
		refresh();
		return;
	}
	top_view_make(t, &v);
	s->lines = v.n;
	last = v.n > 1 + rows ? v.n - 1 - rows : 0;
	if (s->top > last)
		s->top = last;
	if (v.n > 0)
		line_draw(0, &v.lines[0]);
	for (size_t i = 0; i < rows && 1 + s->top + i < v.n; i++)
		line_draw(1 + i, &v.lines[1 + s->top + i]);
	top_view_free(&v);
	refresh();
}

/* The next port in a direction; after the last all, and then the first. */
static void
port_step(struct top *t, int step)
{
	int n = t->now.nb_ports, at = -1;

	for (int i = 0; i < n; i++)
		if ((int)t->now.ports[i].id == t->port)
			at = i;
	at += step;
	if (at < -1)
		at = n - 1;
	t->port = at < 0 || at >= n ? -1 : (int)t->now.ports[at].id;
}

static void
interval_set(struct top *t, double factor)
{
	t->interval_s = RTE_MIN(RTE_MAX(t->interval_s * factor, INTERVAL_MIN_S), INTERVAL_MAX_S);
}

static void
scroll_key(struct screen *s, int key)
{
	size_t page = LINES > 2 ? LINES - 2 : 1;

	switch (key) {
	case KEY_UP:
		s->top -= s->top > 0;
		break;
	case KEY_DOWN:
		s->top++;
		break;
	case KEY_PPAGE:
		s->top -= RTE_MIN(s->top, page);
		break;
	case KEY_NPAGE:
		s->top += page;
		break;
	case KEY_HOME:
		s->top = 0;
		break;
	case KEY_END:
		s->top = s->lines;
		break;
	default:
		break;
	}
}

static void
key_handle(struct screen *s, struct top *t, int key)
{
	if (key == KEY_RESIZE)
		return;
	if (s->help && key != 'q') {
		s->help = false;
		return;
	}
	if (key >= '1' && key < '1' + TOP_PARTS) {
		t->shown[key - '1'] = !t->shown[key - '1'];
		return;
	}
	switch (key) {
	case 'q':
		s->quit = true;
		break;
	case 'h':
	case '?':
		s->help = true;
		break;
	case ' ':
	case 'p':
		t->paused = !t->paused;
		break;
	case '+':
		interval_set(t, 2);
		break;
	case '-':
		interval_set(t, 0.5);
		break;
	case 's':
		t->sort = (t->sort + 1) % TOP_SORTS;
		break;
	case 'd':
		t->account = !t->account;
		break;
	case 'n':
		port_step(t, 1);
		break;
	case 'N':
		port_step(t, -1);
		break;
	case 'a':
		t->port = -1;
		break;
	default:
		scroll_key(s, key);
		break;
	}
}

/* Read and draw at each interval, handle keys meanwhile. */
static void
screen_run(struct screen *s, struct top *t)
{
	uint64_t due_ns = tm_now_ns(), now_ns;
	int key;

	while (!s->quit && top_signal == 0) {
		now_ns = tm_now_ns();
		if (now_ns >= due_ns) {
			if (!t->paused)
				top_read(t);
			due_ns = now_ns + (uint64_t)(t->interval_s * 1e9);
			screen_draw(s, t);
		}
		timeout(RTE_MIN((due_ns - now_ns) / 1000000 + 1, (uint64_t)SLICE_MS));
		key = getch();
		if (key == ERR)
			continue;
		key_handle(s, t, key);
		/* A shorter interval holds at once. */
		due_ns = RTE_MIN(due_ns, tm_now_ns() + (uint64_t)(t->interval_s * 1e9));
		screen_draw(s, t);
	}
}

static void
screen_leave(void)
{
	if (!isendwin())
		endwin();
}

int
top_screen(struct top *t)
{
	struct screen s = { .top = 0 };

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		tm_error("top: not on a terminal: give --batch");
		return TM_EXIT_SETUP;
	}
	/* Unlike initscr() this returns if the terminal is unknown. */
	if (newterm(NULL, stdout, stdin) == NULL) {
		tm_error("top: terminal type '%s' is not known: set TERM, or give --batch",
			 getenv("TERM") != NULL ? getenv("TERM") : "");
		return TM_EXIT_SETUP;
	}
	/* Also if a library ends the process. */
	atexit(screen_leave);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, true);
	curs_set(0);
	if (has_colors()) {
		start_color();
		use_default_colors();
		init_pair(1, COLOR_RED, -1);
	}
	screen_run(&s, t);
	screen_leave();
	return TM_EXIT_OK;
}

#else

int
top_screen(struct top *t)
{
	(void)t;
	tm_error("top: built without ncurses: give --batch, or build with libncurses-dev");
	return TM_EXIT_SETUP;
}

#endif
