/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The tasks of a port, called one by one in this thread: what each requests and when it is due again, what the
 * application is notified of, and what is left after a failure.
 */

#include <limits.h>
#include <poll.h>

#include <rte_alarm.h>

#include "../check.h"
#include "mlxpmd_ctrl.h"
#include "mlxpmd_recorder.h"
#include "host_sim.h"

#define MS UINT64_C(1000000)
#define MAX_TASKS 8
#define EVENT_FD 77

int mlxpmd_logtype;

static struct mdv_dev mdv;
static struct mlxpmd_port port;
static struct rte_eth_dev eth_dev;
static struct rte_eth_dev_data data;
static struct rte_device device = { .name = "0000:c1:00.0" };
static struct mdv_port_ops port_ops;

/* ------------------------------------------------------------------ host */

static char line[256];
static unsigned int lines;

int __wrap_rte_log(uint32_t level, uint32_t type, const char *format, ...) __rte_format_printf(3, 4);
int
__wrap_rte_log(uint32_t level, uint32_t type, const char *format, ...)
{
	va_list ap;

	CHECK(type == (uint32_t)mlxpmd_logtype && (level == RTE_LOG_ERR || level == RTE_LOG_WARNING));
	lines++;
	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	return 0;
}

static rte_eal_alarm_callback alarm_fn;
static void *alarm_arg;
static int alarm_rc;
static unsigned int alarms;

int __wrap_rte_eal_alarm_set(uint64_t us, rte_eal_alarm_callback fn, void *arg);
int
__wrap_rte_eal_alarm_set(uint64_t us, rte_eal_alarm_callback fn, void *arg)
{
	CHECK_EQ(us, 1);
	alarms++;
	if (alarm_rc != 0)
		return alarm_rc;
	CHECK(alarm_fn == NULL, "two alarms");
	alarm_fn = fn;
	alarm_arg = arg;
	return 0;
}

int __wrap_rte_eal_alarm_cancel(rte_eal_alarm_callback fn, void *arg);
int
__wrap_rte_eal_alarm_cancel(rte_eal_alarm_callback fn, void *arg)
{
	CHECK(fn != NULL);
	if (alarm_fn == fn && alarm_arg == arg)
		alarm_fn = NULL;
	return 0;
}

static void
alarm_run(void)
{
	rte_eal_alarm_callback fn = alarm_fn;

	alarm_fn = NULL;
	if (fn != NULL)
		fn(alarm_arg);
}

/* ------------------------------------------------------------------ scheduler */

static struct mlxpmd_task *tasks[MAX_TASKS];
static struct mlxpmd_sched *sched_of[MAX_TASKS];
static uint64_t delays[MAX_TASKS];
static unsigned int nb_tasks, adds_left;
static char requested[256]; /* Names, each with a space behind it. */

int
mlxpmd_task_add(struct mlxpmd_sched *worker, struct mlxpmd_task *task, uint64_t delay_ns)
{
	CHECK(worker == NULL || worker == &port.worker);
	CHECK(task->port_id == port.port_id && (task->fd == -1 || strcmp(task->name, "events") == 0));
	if (adds_left-- == 0)
		return -EAGAIN;
	sched_of[nb_tasks] = worker;
	delays[nb_tasks] = delay_ns;
	tasks[nb_tasks++] = task;
	return 0;
}

/* The task "health" runs while it is removed. */
static bool health_runs;

/* Those that request another one are removed before it. */
void
mlxpmd_task_remove(struct mlxpmd_task *task)
{
	if (health_runs && strcmp(task->name, "health") == 0)
		CHECK_EQ(task->run(task->arg), MLXPMD_TASK_IDLE);
	if (nb_tasks > 0 && tasks[nb_tasks - 1] == task) {
		nb_tasks--;
		return;
	}
	for (unsigned int i = 0; i < nb_tasks; i++)
		CHECK(tasks[i] != task, "%s is removed before another one", task->name);
}

void
mlxpmd_task_request(struct mlxpmd_task *task)
{
	snprintf(requested + strlen(requested), sizeof(requested) - strlen(requested), "%s ", task->name);
}

static struct mlxpmd_task *
task_named(const char *name)
{
	for (unsigned int i = 0; i < nb_tasks; i++)
		if (strcmp(tasks[i]->name, name) == 0)
			return tasks[i];
	CHECK(false, "no task %s", name);
	return NULL;
}

/* Runs a task; forgets what was requested before. */
static uint64_t
run(const char *name)
{
	struct mlxpmd_task *task = task_named(name);
	uint64_t due;

	requested[0] = '\0';
	if (task == NULL)
		return 0;
	due = task->run(task->arg);
	CHECK(pthread_mutex_trylock(&port.lock) == 0, "%s: locked", name);
	pthread_mutex_unlock(&port.lock);
	return due;
}

/* ------------------------------------------------------------------ device and other files of the driver */

static bool removed, suspect, alive, up, notified, asleep, repaired, failed;
static uint32_t events;
static int running_rc;
static unsigned int refreshes, checks_memory, checks_repair, quiesces, dumps, waits, set_asleep, set_awake;

/* A function that reads a state. */
#define READS(type, name, params, check, value) \
	type name params { CHECK(check); return value; }

READS(bool, mdv_removed, (const struct mdv_dev *dev), dev == &mdv, removed)
READS(bool, mdv_suspect, (const struct mdv_dev *dev), dev == &mdv, suspect)
READS(bool, mdv_alive, (struct mdv_dev *dev), dev == &mdv, alive)
READS(int, mdv_event_fd, (const struct mdv_dev *dev), dev == &mdv, EVENT_FD)
READS(uint32_t, mdv_events_take, (struct mdv_dev *dev), dev == &mdv, events)

static bool
lock_held(void)
{
	int rc = pthread_mutex_trylock(&port.lock);

	if (rc == 0)
		pthread_mutex_unlock(&port.lock);
	return rc != 0;
}

bool
mdv_quiesce_wait(struct mdv_dev *dev)
{
	CHECK(dev == &mdv && !lock_held() && quiesces == 1);
	waits++;
	return true;
}

static int
sim_running(struct mdv_dev *dev, bool *state)
{
	CHECK(dev == &mdv);
	if (running_rc == 0)
		*state = up;
	return running_rc;
}

READS(bool, mlxpmd_link_notified, (const struct mlxpmd_port *p), p == &port, notified)

bool
mlxpmd_link_refresh(struct mlxpmd_port *p)
{
	CHECK(p == &port);
	CHECK(lock_held() || !port.running);
	refreshes++;
	return up != notified;
}

bool
mlxpmd_link_set_notified(struct mlxpmd_port *p)
{
	bool changed = up != notified;

	CHECK(p == &port);
	notified = up;
	return changed;
}

static bool aged; /* A flow is. */

uint64_t
mlxpmd_flows_age(struct mlxpmd_port *p, bool *report)
{
	CHECK(p == &port && lock_held());
	*report = aged;
	return 7 * MS;
}

bool
mlxpmd_repair_check(struct mlxpmd_port *p, uint64_t at_ns, bool *failure)
{
	CHECK(p == &port && at_ns == now_ns && lock_held());
	if (failure != NULL && failed)
		*failure = true;
	checks_memory += failure != NULL;
	checks_repair += failure == NULL;
	return repaired;
}

void
mlxpmd_repair_quiesce_all(struct mlxpmd_port *p)
{
	CHECK(p == &port && lock_held());
	quiesces++;
}

READS(bool, mlxpmd_rx_intr_all_on, (const struct mlxpmd_port *p), p == &port && lock_held(), asleep)

void
mlxpmd_counts_asleep(struct mlxpmd_port *p, bool now)
{
	CHECK(p == &port);
	set_asleep += now;
	set_awake += !now;
}

#define COUNTS(name, params, allowed, counter) \
void \
name params \
{ \
	CHECK(allowed); \
	(counter)++; \
}

/* Drops are looked at under the lock; a file is written without it, and before the application may close the port. */
static unsigned int drop_looks, given_up_looks, recordings, link_records;
COUNTS(mlxpmd_recorder_watch, (struct mlxpmd_port *p, uint64_t at_ns), p == &port && at_ns == now_ns && lock_held(),
       drop_looks)
COUNTS(mlxpmd_recorder_given_up, (struct mlxpmd_port *p), p == &port && !lock_held(), given_up_looks)
COUNTS(mlxpmd_recorder_failed, (struct mlxpmd_port *p, enum mdv_recorder_reason reason),
       p == &port && !lock_held() && reason == MDV_RECORDER_DEVICE && waits == 0 && quiesces == 1, recordings)
COUNTS(mlxpmd_link_record, (struct mlxpmd_port *p),
       p == &port && lock_held() && !eth_dev.data->dev_conf.intr_conf.lsc, link_records)

/* Whether the dump is to end at once, after less than a second, and after a second. */
static bool stops[3];

void
mlxpmd_fwdump_fatal(struct mlxpmd_port *p, bool (*stop)(const void *arg), const void *arg)
{
	CHECK(p == &port && waits == 1 && strstr(requested, "notify ") != NULL, "%s", requested);
	dumps++;
	stops[0] = stop(arg);
	now_ns += 1000 * MS - 1;
	stops[1] = stop(arg);
	now_ns++;
	stops[2] = stop(arg);
}

/* ------------------------------------------------------------------ the application */

static char reported[128];
static bool closes;

int __wrap_rte_eth_dev_callback_process(struct rte_eth_dev *dev, enum rte_eth_event_type event, void *arg);
int
__wrap_rte_eth_dev_callback_process(struct rte_eth_dev *dev, enum rte_eth_event_type event, void *arg)
{
	CHECK(dev == &eth_dev && arg == NULL && !lock_held());
	snprintf(reported + strlen(reported), sizeof(reported) - strlen(reported), "%s ",
		 event == RTE_ETH_EVENT_INTR_RMV ? "RMV" : event == RTE_ETH_EVENT_INTR_LSC ? "LSC" :
		 event == RTE_ETH_EVENT_QUEUE_STATE ? "QUEUE" : event == RTE_ETH_EVENT_FLOW_AGED ? "AGED" : "other");
	if (closes)
		mlxpmd_tasks_down(&port);
	return 0;
}

/* What the application is notified of. */
static const char *
notices(void)
{
	reported[0] = '\0';
	CHECK_EQ(run("notify"), MLXPMD_TASK_IDLE);
	alarm_run();
	return reported;
}

static void
reset(void)
{
	static pthread_mutexattr_t checked;

	memset(&port, 0, sizeof(port));
	memset(&data, 0, sizeof(data));
	memset(&mdv, 0, sizeof(mdv));
	removed = suspect = up = notified = asleep = repaired = failed = no_memory = closes = false;
	alive = true;
	events = 0;
	running_rc = alarm_rc = 0;
	refreshes = checks_memory = checks_repair = quiesces = dumps = waits = 0;
	drop_looks = given_up_looks = recordings = 0;
	lines = alarms = set_asleep = set_awake = 0;
	adds_left = UINT_MAX;
	now_ns = 1000 * MS;
	port_ops.running = sim_running;
	mdv.port = &port_ops;
	port.mdv = &mdv;
	port.port_id = 3;
	port.eth_dev = &eth_dev;
	eth_dev.data = &data;
	eth_dev.device = &device;
	data.dev_conf.intr_conf.lsc = data.dev_conf.intr_conf.rmv = 1;
	pthread_mutexattr_init(&checked);
	pthread_mutexattr_settype(&checked, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&port.lock, &checked);
	requested[0] = '\0';
}

static void
start(void)
{
	reset();
	CHECK_OK(mlxpmd_tasks_up(&port));
	CHECK_OK(mlxpmd_tasks_start(&port));
}

static void
end(void)
{
	mlxpmd_tasks_down(&port);
	CHECK(nb_tasks == 0 && allocated == 0 && alarm_fn == NULL && port.tasks == NULL);
}

/* ------------------------------------------------------------------ tests */

static void
test_up(void)
{
	static const struct {
		const char *name;
		bool worker;
		uint64_t delay_ns;
	} row[] = {
		{ "notify", false, MLXPMD_TASK_IDLE }, { "events", false, MLXPMD_TASK_IDLE },
		{ "interface", false, 1000 * MS }, { "queue_watch", false, MLXPMD_TASK_IDLE },
		{ "link", true, MLXPMD_TASK_IDLE }, { "queue_repair", true, MLXPMD_TASK_IDLE },
		{ "flow_age", true, MLXPMD_TASK_IDLE }, { "health", true, MLXPMD_TASK_IDLE },
	};

	/* Without memory, or without a thread for one of the tasks, nothing is left. */
	reset();
	no_memory = true;
	CHECK_EQ(mlxpmd_tasks_up(&port), -ENOMEM);
	CHECK(rte_errno == ENOMEM && lines == 1 && strstr(line, "port 3: no memory for its tasks") != NULL, "%s", line);
	end();
	for (unsigned int k = 0; k < RTE_DIM(row); k++) {
		reset();
		adds_left = k;
		CHECK_EQ(mlxpmd_tasks_up(&port), -EAGAIN);
		CHECK(nb_tasks == 0 && allocated == 0 && port.tasks == NULL && lines == 0, "%u tasks", k);
		end();
	}
	start();
	CHECK_EQ(nb_tasks, RTE_DIM(row));
	for (unsigned int i = 0; i < RTE_DIM(row); i++) {
		unsigned int at = 0;

		while (at < nb_tasks && strcmp(tasks[at]->name, row[i].name) != 0)
			at++;
		CHECK(at < nb_tasks && (sched_of[at] != NULL) == row[i].worker && delays[at] == row[i].delay_ns, "%s",
		      row[i].name);
		CHECK(at == nb_tasks || tasks[at]->fd == (strcmp(row[i].name, "events") == 0 ? EVENT_FD : -1));
	}
	CHECK(mlxpmd_running(&port) && refreshes == 1 && strcmp(requested, "queue_watch ") == 0);
	mlxpmd_tasks_stop(&port);
	CHECK(!mlxpmd_running(&port));
	/* The application is not notified of the link that a start finds. */
	up = true;
	CHECK_OK(mlxpmd_tasks_start(&port));
	CHECK(notified && mlxpmd_running(&port));
	end();
}

static void
test_events(void)
{
	start();
	CHECK_EQ(run("events"), MLXPMD_TASK_IDLE);
	CHECK_STR(requested, "");
	events = MDV_EVENT_LINK;
	CHECK_EQ(run("events"), MLXPMD_TASK_IDLE);
	CHECK_STR(requested, "link ");
	/* A link event is handled although the interface's flag is as the application knows it. */
	refreshes = 0;
	CHECK_EQ(run("link"), MLXPMD_TASK_IDLE);
	CHECK_EQ(refreshes, 1);
	CHECK_EQ(run("link"), MLXPMD_TASK_IDLE);
	CHECK_EQ(refreshes, 1);
	events = 0;
	for (int revents = 1; revents <= POLLNVAL; revents <<= 1) {
		bool bad = (revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;

		task_named("events")->fd = EVENT_FD;
		task_named("events")->revents = revents;
		lines = 0;
		CHECK_EQ(run("events"), MLXPMD_TASK_IDLE);
		CHECK(task_named("events")->fd == (bad ? -1 : EVENT_FD) && lines == bad, "revents %#x", revents);
	}
	CHECK(strstr(line, "its event descriptor was closed: link changes are polled") != NULL, "%s", line);
	task_named("events")->fd = EVENT_FD;
	task_named("events")->revents = 0;
	for (unsigned int i = 0; i < 2; i++) {
		task_named("events")->fd = EVENT_FD;
		events = i == 0 ? MDV_EVENT_REMOVED : 0;
		removed = i == 1;
		CHECK_EQ(run("events"), MLXPMD_TASK_IDLE);
		CHECK(strcmp(requested, "health ") == 0 && task_named("events")->fd == -1);
	}
	end();
}

static void
test_interface(void)
{
	static const struct {
		bool up, notified, removed, suspect;
		int rc;
		enum mdv_open_mode mode;
		const char *requested;
	} row[] = {
		{ false, false, false, false, 0, MDV_OPEN_VERBS, "" },
		{ true, true, false, false, 0, MDV_OPEN_VERBS, "" },
		{ true, false, false, false, 0, MDV_OPEN_VERBS, "link " },
		{ false, true, false, false, 0, MDV_OPEN_VERBS, "link " },
		{ true, true, false, false, 0, MDV_OPEN_VFIO, "link " },
		{ true, true, false, true, 0, MDV_OPEN_VERBS, "health " },
		{ true, false, true, false, 0, MDV_OPEN_VERBS, "health " },
		{ true, true, false, false, -ENOTSUP, MDV_OPEN_VERBS, "" },
		{ true, false, false, false, -ENOTSUP, MDV_OPEN_VERBS, "" },
		{ true, true, false, false, -ENODEV, MDV_OPEN_VERBS, "health " },
	};

	for (size_t i = 0; i < RTE_DIM(row); i++) {
		start();
		up = row[i].up;
		notified = row[i].notified;
		removed = row[i].removed;
		suspect = row[i].suspect;
		running_rc = row[i].rc;
		mdv.mode = row[i].mode;
		CHECK_EQ(run("interface"), removed ? MLXPMD_TASK_IDLE : 1000 * MS);
		CHECK(strcmp(requested, row[i].requested) == 0, "row %zu: %s", i, requested);
		end();
	}
}

static void
test_link(void)
{
	start();
	up = true;
	refreshes = 0;
	CHECK_EQ(run("link"), MLXPMD_TASK_IDLE);
	CHECK(refreshes == 1 && strcmp(requested, "notify ") == 0);
	CHECK_STR(notices(), "LSC ");
	CHECK(notified);
	/* It was notified meanwhile: nothing is reported twice. */
	CHECK_EQ(run("link"), MLXPMD_TASK_IDLE);
	CHECK(refreshes == 1 && strcmp(requested, "") == 0);
	up = false;
	data.dev_conf.intr_conf.lsc = 0;
	CHECK_EQ(run("link"), MLXPMD_TASK_IDLE);
	CHECK(refreshes == 1 && link_records == 0 && strcmp(requested, "") == 0);
	data.dev_conf.intr_conf.lsc = 1;
	CHECK_EQ(run("link"), MLXPMD_TASK_IDLE);
	notified = false;
	CHECK_STR(notices(), "");
	/* Of a stopped port nothing but the removal is reported. */
	up = true;
	CHECK_EQ(run("link"), MLXPMD_TASK_IDLE);
	mlxpmd_tasks_stop(&port);
	CHECK_STR(notices(), "");
	refreshes = 0;
	CHECK_EQ(run("link"), MLXPMD_TASK_IDLE);
	CHECK(refreshes == 0 && strcmp(requested, "") == 0);
	end();
}

static void
test_watch(void)
{
	start();
	CHECK_EQ(run("queue_watch"), 2 * MS);
	CHECK_EQ(drop_looks, 1);
	CHECK(checks_memory == 1 && checks_repair == 0 && set_awake == 1 && set_asleep == 0 && requested[0] == '\0');
	asleep = true;
	CHECK_EQ(run("queue_watch"), 8 * MS);
	CHECK(set_awake == 1 && set_asleep == 1);
	failed = true;
	CHECK_EQ(run("queue_watch"), 8 * MS);
	CHECK_STR(requested, "queue_repair ");
	failed = false;
	repaired = true;
	CHECK_EQ(run("queue_watch"), 8 * MS);
	CHECK_STR(requested, "notify ");
	CHECK_EQ(run("queue_repair"), MLXPMD_TASK_IDLE);
	CHECK(checks_repair == 1 && given_up_looks == 1 && strcmp(requested, "notify ") == 0);
	/* Each reset of a queue is a notice of its own, and follows the others. */
	aged = true;
	CHECK_EQ(run("flow_age"), 7 * MS);
	CHECK_STR(notices(), "AGED QUEUE QUEUE ");
	aged = false;
	CHECK_EQ(run("flow_age"), 7 * MS);
	CHECK_STR(notices(), "");
	repaired = false;
	CHECK_EQ(run("queue_repair"), MLXPMD_TASK_IDLE);
	CHECK_STR(requested, "");
	/* Another thread changes queues. */
	pthread_mutex_lock(&port.lock);
	checks_memory = 0;
	requested[0] = '\0';
	CHECK_EQ(task_named("queue_watch")->run(task_named("queue_watch")->arg), 2 * MS);
	CHECK(checks_memory == 0 && lock_held());
	pthread_mutex_unlock(&port.lock);
	suspect = true;
	CHECK_EQ(run("queue_watch"), 8 * MS);
	CHECK_STR(requested, "health ");
	suspect = false;
	removed = true;
	CHECK_EQ(run("queue_watch"), MLXPMD_TASK_IDLE);
	CHECK_STR(requested, "health ");
	removed = false;
	mlxpmd_tasks_stop(&port);
	checks_memory = checks_repair = 0;
	CHECK_EQ(run("queue_watch"), MLXPMD_TASK_IDLE);
	CHECK_EQ(run("queue_repair"), MLXPMD_TASK_IDLE);
	CHECK(checks_memory == 0 && checks_repair == 0);
	end();
}

static void
test_health(void)
{
	start();
	notified = true;
	CHECK_EQ(run("health"), MLXPMD_TASK_IDLE);
	CHECK(lines == 0 && quiesces == 0 && dumps == 0 && recordings == 0);
	alive = false;
	up = true;
	CHECK_EQ(run("health"), MLXPMD_TASK_IDLE);
	CHECK(lines == 1 && strstr(line, "port 3: 0000:c1:00.0 was removed: nothing is received or sent any more") != NULL, "%s",
	      line);
	CHECK(quiesces == 1 && waits == 1 && dumps == 1 && !stops[0] && !stops[1] && !stops[2]);
	CHECK_STR(notices(), "RMV ");
	/* Once. */
	CHECK_EQ(run("health"), MLXPMD_TASK_IDLE);
	CHECK(lines == 1 && dumps == 1 && recordings == 1 && strcmp(requested, "") == 0);
	end();
	/* The link is down with it. */
	start();
	notified = true;
	alive = false;
	CHECK_EQ(run("health"), MLXPMD_TASK_IDLE);
	CHECK_STR(notices(), "RMV LSC ");
	end();
	/* A close waits for the dump, but not longer than a second. */
	start();
	alive = false;
	health_runs = true;
	end();
	health_runs = false;
	CHECK(dumps == 1 && !stops[0] && !stops[1] && stops[2]);
	/* Stopped, and the application wants no notice. */
	start();
	mlxpmd_tasks_stop(&port);
	alive = false;
	CHECK_EQ(run("health"), MLXPMD_TASK_IDLE);
	CHECK_EQ(refreshes, 1);
	CHECK_STR(notices(), "RMV ");
	end();
	start();
	data.dev_conf.intr_conf.rmv = 0;
	alive = false;
	CHECK_EQ(run("health"), MLXPMD_TASK_IDLE);
	CHECK_STR(notices(), "");
	end();
}

/* Both at once: the removal comes first, and after it the callback may have closed the port. */
static void
test_order(void)
{
	for (int close = 0; close <= 1; close++) {
		start();
		up = true;
		CHECK_EQ(run("link"), MLXPMD_TASK_IDLE);
		up = false;
		events = MDV_EVENT_LINK;
		CHECK_EQ(run("events"), MLXPMD_TASK_IDLE);
		repaired = true;
		CHECK_EQ(run("queue_repair"), MLXPMD_TASK_IDLE);
		quiesces = 1;
		(void)mdv_quiesce_wait(&mdv);
		quiesces = waits = 0;
		alive = false;
		notified = true;
		reported[0] = '\0';
		closes = close;
		/* One alarm for all of them. */
		alarms = 0;
		requested[0] = '\0';
		CHECK_EQ(task_named("notify")->run(task_named("notify")->arg), MLXPMD_TASK_IDLE);
		CHECK_EQ(task_named("notify")->run(task_named("notify")->arg), MLXPMD_TASK_IDLE);
		CHECK_EQ(alarms, 1);
		alarm_run();
		CHECK_STR(reported, close ? "LSC " : "LSC QUEUE ");
		closes = false;
		end();
	}
}

/* EAL has no memory for the alarm: it is set again later, and that is logged once. */
static void
test_no_alarm(void)
{
	start();
	up = true;
	CHECK_EQ(run("link"), MLXPMD_TASK_IDLE);
	alarm_rc = -ENOMEM;
	for (unsigned int i = 0; i < 2; i++) {
		CHECK_EQ(run("notify"), 10 * MS);
		CHECK(lines == 1 && strstr(line, "port 3: no alarm for the notification of an event: Cannot allocate memory, retried"
						 ) != NULL, "%s", line);
	}
	alarm_rc = 0;
	CHECK_STR(notices(), "LSC ");
	/* Nothing is pending: no alarm. */
	alarms = 0;
	CHECK_STR(notices(), "");
	CHECK_EQ(alarms, 0);
	/* An alarm that is pending at the close does not come. */
	up = false;
	CHECK_EQ(run("link"), MLXPMD_TASK_IDLE);
	CHECK_EQ(run("notify"), MLXPMD_TASK_IDLE);
	CHECK(alarm_fn != NULL);
	end();
}

int
main(void)
{
	test_up();
	test_events();
	test_interface();
	test_link();
	test_watch();
	test_health();
	test_order();
	test_no_alarm();
	mlxpmd_tasks_down(&port);
	return check_exit("tasks");
}
