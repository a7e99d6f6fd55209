/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Names and explanations of error numbers, command statuses and syndromes; small helpers of the layer. */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_malloc.h>

#include "mdv_inspect.h"
#include "mdv_private.h"

RTE_LOG_REGISTER_DEFAULT(mdv_logtype, NOTICE)

const char *
mdv_errno_name(int err)
{
	const char *name = strerrorname_np(err);

	return name != NULL ? name : "errno";
}

void *
mdv_zalloc(const char *name, size_t bytes, const char *what)
{
	void *p = calloc(1, bytes);

	if (p == NULL) {
		MDV_LOG(ERR, name, "no memory for %s", what);
		rte_errno = ENOMEM;
	}
	return p;
}

void *
mdv_zalloc_shared(const char *name, size_t bytes, const char *what)
{
	void *p = rte_zmalloc("mdv", bytes, RTE_CACHE_LINE_SIZE);

	if (p == NULL) {
		MDV_LOG(ERR, name, "no memory for %s", what);
		rte_errno = ENOMEM;
	}
	return p;
}

void
mdv_eventfd_signal(int fd)
{
	const uint64_t one = 1;

	(void)!write(fd, &one, sizeof(one));
}

int
mdv_fd_nonblock(const struct mdv_dev *dev, int fd, const char *what)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0)
		return 0;
	return MDV_FAIL(dev->name, errno, "cannot set O_NONBLOCK on the %s descriptor: %s", what,
			mdv_errno_name(errno));
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_explain)
void
mdv_explain(uint8_t status, uint32_t syndrome, struct mdv_explanation *e)
{
	int err = prm_status_errno(status);

	e->name = prm_status_name(status);
	e->errno_name = err == 0 ? "0" : mdv_errno_name(err);
	e->meaning = prm_status_text(status);
	if (e->meaning == NULL)
		e->meaning = "unknown status: the firmware may be newer than this driver";
	e->syndrome = prm_syndrome_text(syndrome);
	if (e->syndrome == NULL)
		e->syndrome = syndrome == 0 ? "the firmware gives no syndrome" :
			      "a firmware syndrome that is not published: NVIDIA support can "
			      "interpret it, given the firmware version";
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_status_find)
int
mdv_status_find(const char *name, uint8_t *status)
{
	for (unsigned int i = 0; i <= UINT8_MAX; i++) {
		if (strcasecmp(prm_status_name(i), name) == 0 && prm_status_text(i) != NULL) {
			*status = i;
			return 0;
		}
	}
	return -ENOENT;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_syndrome_name)
const char *
mdv_syndrome_name(uint8_t syndrome)
{
	return prm_cqe_syndrome_name(syndrome);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_syndrome_meaning)
const char *
mdv_syndrome_meaning(uint8_t syndrome)
{
	const char *text = prm_cqe_syndrome_text(syndrome);

	return text != NULL ? text : "unknown syndrome of an error completion";
}
