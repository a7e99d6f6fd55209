/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Numbers that people write: decimal or 0x, nothing else, and nothing behind them. */
#include <errno.h>

#include "core/emu_number.h"
#include "fw_fixture.h"

static const struct {
	const char *text;
	bool good;
	uint64_t value;
} rows[] = {
	{"0", true, 0}, {"00", true, 0}, {"010", true, 10}, {"08", true, 8}, {"4095", true, 4095},
	{"0x10", true, 16}, {"0XfF", true, 255}, {"0x0", true, 0},
	{"18446744073709551615", true, UINT64_MAX}, {"0xffffffffffffffff", true, UINT64_MAX},
	{"18446744073709551616", false, 0}, {"0x10000000000000000", false, 0},
	{"", false, 0}, {" 1", false, 0}, {"1 ", false, 0}, {"-1", false, 0}, {"+1", false, 0},
	{"0x", false, 0}, {"0xg", false, 0}, {"0x 1", false, 0}, {"x1", false, 0}, {"ff", false, 0},
	{"1e3", false, 0}, {"1.0", false, 0}, {"0x-1", false, 0}, {"0x0x1", false, 0}, {"1,", false, 0},
};

int
main(void)
{
	uint64_t v;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		v = 77;
		errno = 5;
		if (emu_number(rows[i].text, 0, UINT64_MAX, &v) != rows[i].good)
			fprintf(stderr, "'%s':\n", rows[i].text);
		CHECK(emu_number(rows[i].text, 0, UINT64_MAX, &v) == rows[i].good);
		CHECK_EQ(v, rows[i].good ? rows[i].value : 77);
		CHECK_EQ(errno, 5);
	}
	CHECK(!emu_number("4", 5, 7, &v) && emu_number("5", 5, 7, &v) && v == 5);
	CHECK(!emu_number("0x8", 5, 7, &v) && emu_number("0x7", 5, 7, &v) && v == 7);
	CHECK(strcmp(emu_number_scan("0x1f:2", &v), ":2") == 0 && v == 0x1f);
	CHECK(strcmp(emu_number_scan("0x", &v), "x") == 0 && v == 0);
	CHECK(emu_number_scan("-3", &v) == NULL && emu_number_scan("", &v) == NULL);
	return fix_result("number");
}
