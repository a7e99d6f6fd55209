/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Life of a function whose owner is the program itself (VFIO): what a kernel's driver does with
 * ENABLE_HCA to TEARDOWN_HCA, and the host's pages that the firmware lives on.
 */
#ifndef EMU_HCA_H
#define EMU_HCA_H

#include <stdbool.h>
#include <stdint.h>

enum emu_hca_state { EMU_HCA_DISABLED, EMU_HCA_ENABLED, EMU_HCA_UP };

struct emu_hca {
	enum emu_hca_state state;
	uint8_t issi;	    /**< Version of the command interface that the owner chose. */
	bool roce;	    /**< The owner switched it on. */
	bool link_down;	    /**< INIT_HCA leaves the port as it is. */
	uint32_t *caps;	    /**< General capability page as the owner set it; NULL: it did not. */
	bool admin_before;  /**< Of the port, before INIT_HCA. */
	uint64_t *page;	    /**< IOVAs of the pages given, in that order. */
	unsigned pages, page_room;
	bool asked;	    /**< An event asked for pages, or offered some, and is not answered. */
	unsigned given, taken; /**< Pages moved so far, for the record. */
};

#endif /* EMU_HCA_H */
