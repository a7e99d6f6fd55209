/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Attributes of a uverbs ioctl: checks, and copies from and to the program. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/emu_fault.h"
#include "uverbs.h"

/*
 * Returns -EFAULT for invalid memory of the program, as the kernel's copies do. If the system call is
 * not permitted (in some containers) it uses memcpy().
 */
static int
copy(void *to, const void *from, size_t len, bool write)
{
	struct iovec local = {write ? (void *)(uintptr_t)from : to, len};
	struct iovec remote = {write ? to : (void *)(uintptr_t)from, len};
	ssize_t n;

	if (len == 0)
		return 0;
	n = (write ? process_vm_writev : process_vm_readv)(getpid(), &local, 1, &remote, 1, 0);
	if (n == (ssize_t)len)
		return 0;
	if (n >= 0 || errno == EFAULT)
		return -EFAULT;
	memcpy(to, from, len);
	return 0;
}

int
abi_copy_from(void *dst, uint64_t src, size_t len)
{
	return copy(dst, (const void *)(uintptr_t)src, len, false);
}

int
abi_copy_to(uint64_t dst, const void *src, size_t len)
{
	return copy((void *)(uintptr_t)dst, src, len, true);
}

struct ib_uverbs_attr *
abi_attr(const struct abi_call *call, uint16_t id)
{
	unsigned i;

	for (i = 0; i < call->nattrs; i++)
		if (call->attrs[i].attr_id == id)
			return &call->attrs[i];
	return NULL;
}

size_t
abi_len(const struct abi_call *call, uint16_t id)
{
	const struct ib_uverbs_attr *a = abi_attr(call, id);

	return a != NULL ? a->len : 0;
}

uint64_t
abi_in_u64(const struct abi_call *call, uint16_t id)
{
	uint64_t v = 0;

	return abi_in(call, id, &v, sizeof(v)) == 0 ? v : 0;
}

int
abi_in(const struct abi_call *call, uint16_t id, void *dst, size_t size)
{
	const struct ib_uverbs_attr *a = abi_attr(call, id);
	size_t n;

	memset(dst, 0, size);
	if (a == NULL)
		return 0;
	n = a->len < size ? a->len : size;
	if (a->len > sizeof(a->data))
		return abi_copy_from(dst, a->data, n);
	memcpy(dst, &a->data, n);
	return 0;
}

/*
 * A command that is too short for the object's number is padded with zeros: the firmware checks the
 * length later.
 */
#define IN_ROOM 64

int
abi_in_alloc(const struct abi_call *call, uint16_t id, void **data, size_t *len)
{
	int ret;

	*len = abi_len(call, id);
	*data = calloc(1, *len > IN_ROOM ? *len : IN_ROOM);
	if (*data == NULL)
		return -ENOMEM;
	ret = abi_in(call, id, *data, *len);
	if (ret != 0) {
		free(*data);
		*data = NULL;
	}
	return ret;
}

/* As abi_copy_to(), with the values that set rules give. */
static int
abi_out_changed(const struct abi_call *call, const struct ib_uverbs_attr *a, const void *src, size_t n)
{
	const struct emu_fault_event e = {
		.kind = EMU_ON_IOCTL_OUT, .dev = call->dev, .attr = a->attr_id,
		.name = call->command != NULL ? call->command : call->method->name,
	};
	uint8_t *copy = malloc(n + 1);
	int ret;

	if (copy == NULL)
		return -ENOMEM;
	memcpy(copy, src, n);
	emu_fault_set_out(&e, copy, n);
	ret = abi_copy_to(a->data, copy, n);
	free(copy);
	return ret;
}

int
abi_out(const struct abi_call *call, uint16_t id, const void *src, size_t size)
{
	static const uint8_t zero[256];
	struct ib_uverbs_attr *a = abi_attr(call, id);
	size_t n, tail;
	int ret;

	if (a == NULL)
		return 0;
	n = a->len < size ? a->len : size;
	ret = emu_fault_set_at(EMU_ON_IOCTL_OUT) ? abi_out_changed(call, a, src, n)
					   : abi_copy_to(a->data, src, n);
	for (; ret == 0 && n < a->len; n += tail) {
		tail = a->len - n < sizeof(zero) ? a->len - n : sizeof(zero);
		ret = abi_copy_to(a->data + n, zero, tail);
	}
	if (ret == 0)
		a->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
	return ret;
}

int
abi_out_u32(const struct abi_call *call, uint16_t id, uint32_t v)
{
	return abi_out(call, id, &v, sizeof(v));
}

int
abi_out_u64(const struct abi_call *call, uint16_t id, uint64_t v)
{
	return abi_out(call, id, &v, sizeof(v));
}

struct abi_handle *
abi_in_handle(const struct abi_call *call, uint16_t id)
{
	const struct ib_uverbs_attr *a = abi_attr(call, id);

	return a != NULL ? abi_handle_find(call->file, (uint32_t)a->data) : NULL;
}

static const struct abi_attr_spec *
abi_spec_find(const struct abi_call *call, uint16_t id)
{
	unsigned i;

	for (i = 0; call->method->attrs[i].kind != ABI_ATTR_NONE; i++)
		if (call->method->attrs[i].id == id)
			return &call->method->attrs[i];
	return NULL;
}

/* Input longer than the kernel's structure must be zero in the rest. */
static int
abi_check_tail(const struct ib_uverbs_attr *a, size_t known)
{
	uint8_t buf[64];
	size_t i, n, at;

	if (a->len <= sizeof(a->data))
		return 0;
	for (at = known; at < a->len; at += n) {
		n = a->len - at < sizeof(buf) ? a->len - at : sizeof(buf);
		if (abi_copy_from(buf, a->data + at, n) != 0)
			return -EFAULT;
		for (i = 0; i < n; i++)
			if (buf[i] != 0)
				return -EOPNOTSUPP;
	}
	return 0;
}

static int
abi_check_handle(const struct abi_call *call, const struct abi_attr_spec *spec,
		 const struct ib_uverbs_attr *a)
{
	const struct abi_handle *h;

	if (a->len != 0)
		return -EINVAL;
	h = abi_handle_find(call->file, (uint32_t)a->data);
	if (h == NULL)
		return abi_refuse(call, -ENOENT, "handle %u does not exist", (uint32_t)a->data);
	if (spec->object != ABI_ANY_OBJECT && h->object != spec->object)
		return abi_refuse(call, -EINVAL, "handle %u is of type 0x%x, not 0x%x",
				  (uint32_t)a->data, h->object, spec->object);
	return 0;
}

static int
abi_check_one(const struct abi_call *call, const struct abi_attr_spec *spec,
	      const struct ib_uverbs_attr *a)
{
	switch (spec->kind) {
	case ABI_ATTR_HANDLE:
		return abi_check_handle(call, spec, a);
	case ABI_ATTR_IN:
	case ABI_ATTR_ENUM:
		if (a->len < spec->min)
			return abi_refuse(call, -EINVAL, "attribute 0x%x has %u bytes, %u needed",
					  spec->id, a->len, spec->min);
		return spec->max != 0 && a->len > spec->max ? abi_check_tail(a, spec->max) : 0;
	case ABI_ATTR_OUT:
		if (a->len < spec->min)
			return abi_refuse(call, -EINVAL,
					  "attribute 0x%x has room for %u bytes, %u needed",
					  spec->id, a->len, spec->min);
		return 0;
	case ABI_ATTR_HANDLES:
		return a->len % sizeof(uint32_t) == 0 ? 0 : -EINVAL;
	default:
		return a->len == 0 ? 0 : -EINVAL;
	}
}

int
abi_attrs_check(struct abi_call *call)
{
	const struct abi_method *m = call->method;
	unsigned i;
	int ret;

	for (i = 0; i < call->nattrs; i++) {
		const struct abi_attr_spec *spec = abi_spec_find(call, call->attrs[i].attr_id);

		if (spec == NULL) {
			if ((call->attrs[i].flags & UVERBS_ATTR_F_MANDATORY) != 0)
				return -EPROTONOSUPPORT;
			continue;
		}
		ret = abi_check_one(call, spec, &call->attrs[i]);
		if (ret != 0)
			return ret;
	}
	for (i = 0; m->attrs[i].kind != ABI_ATTR_NONE; i++)
		if (m->attrs[i].mandatory && abi_attr(call, m->attrs[i].id) == NULL)
			return abi_refuse(call, -EINVAL, "attribute 0x%x is missing",
					  m->attrs[i].id);
	return 0;
}
