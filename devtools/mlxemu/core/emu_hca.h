/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * State of a function that the program drives itself (VFIO): ENABLE_HCA to TEARDOWN_HCA, and the
 * host pages given to the firmware.
 */
#ifndef EMU_HCA_H
#define EMU_HCA_H

#include <stdbool.h>
#include <stdint.h>

enum emu_hca_state { EMU_HCA_DISABLED, EMU_HCA_ENABLED, EMU_HCA_UP };

struct emu_hca {
	enum emu_hca_state state;
	uint8_t issi;	    /**< Command interface version, SET_ISSI. */
	bool roce;	    /**< Enabled in the NIC vport context. */
	bool link_down;	    /**< INIT_HCA does not enable the port. */
	uint32_t *caps;	    /**< General capabilities of SET_HCA_CAP; NULL: not set. */
	bool admin_before;  /**< State of the port before INIT_HCA. */
	uint64_t *page;	    /**< IOVAs of the pages given, in that order. */
	unsigned pages, page_room;
	bool requested;	    /**< A page request event was sent, and no MANAGE_PAGES has followed. */
	unsigned given, taken; /**< Pages given and taken so far, for the trace. */
};

#endif /* EMU_HCA_H */
