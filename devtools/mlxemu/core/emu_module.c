/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Memory of the module in a port: a copper cable of 1 m, QSFP28 (SFF-8636) or, up to 25 Gb/s, SFP28 (SFF-8472). */
#include <stdio.h>
#include <string.h>

#include "emu_dev.h"

#define SFP_MBPS_MAX 25000u
#define QSFP_BYTES 640u
#define SFP_BYTES 512u
/* SFF-8024, table 4-1 and 4-3. */
#define ID_SFP 0x03u
#define ID_QSFP28 0x11u
#define CONNECTOR_PIGTAIL 0x21u
#define CONNECTOR_NONE 0x23u
#define COMPLIANCE_100G_CR4 0x0bu
#define COMPLIANCE_25G_CR_CA_N 0x0du

/* ASCII, filled with blanks. */
static void
text_put(uint8_t *to, unsigned bytes, const char *text)
{
	size_t length = strlen(text);

	memset(to, ' ', bytes);
	memcpy(to, text, length < bytes ? length : bytes);
}

static uint8_t
sum(const uint8_t *from, unsigned bytes)
{
	uint8_t total = 0;

	while (bytes-- != 0)
		total = (uint8_t)(total + *from++);
	return total;
}

/* Fields of SFF-8636, table 6-14; offsets from byte 128. */
static void
qsfp_fill(uint8_t *image, const char *serial)
{
	uint8_t *upper = image + 128;

	image[0] = upper[0] = ID_QSFP28;
	image[1] = 8; /* revision 2.8 and later */
	upper[2] = CONNECTOR_NONE;
	upper[3] = 0x80; /* see the extended compliance */
	upper[11] = 0x05; /* 64B/66B */
	upper[12] = 0xff; /* more than 25.4 Gb/s a lane: byte 94 of the page */
	upper[18] = 1; /* m */
	upper[19] = 0xa0; /* copper, not equalized */
	text_put(upper + 20, 16, "mlxemu");
	text_put(upper + 40, 16, "EMULATED-CR4-1M");
	text_put(upper + 56, 2, "A");
	upper[63] = sum(upper, 63);
	upper[64] = COMPLIANCE_100G_CR4;
	text_put(upper + 68, 16, serial);
	text_put(upper + 84, 8, "260101");
	upper[94] = 103; /* of 250 Mb/s */
	upper[95] = sum(upper + 64, 31);
}

/* SFF-8472, table 4-1. */
static void
sfp_fill(uint8_t *image, const char *serial)
{
	image[0] = ID_SFP;
	image[1] = 4; /* by two-wire interface */
	image[2] = CONNECTOR_PIGTAIL;
	image[8] = 0x04; /* passive */
	image[11] = 0x06; /* 64B/66B */
	image[12] = 0xff; /* see byte 66 */
	image[18] = 1; /* m */
	text_put(image + 20, 16, "mlxemu");
	image[36] = COMPLIANCE_25G_CR_CA_N;
	text_put(image + 40, 16, "EMULATED-CR-1M");
	text_put(image + 56, 4, "A");
	image[63] = sum(image, 63);
	image[66] = 103; /* of 250 Mb/s */
	text_put(image + 68, 16, serial);
	text_put(image + 84, 8, "260101");
	image[95] = sum(image + 64, 31);
}

unsigned
emu_module_image(const struct emu_dev *dev, uint8_t image[EMU_MODULE_BYTES_MAX])
{
	bool sfp = dev->profile->speed_mbps <= SFP_MBPS_MAX;
	char serial[17];

	if (!dev->carrier)
		return 0;
	memset(image, 0, EMU_MODULE_BYTES_MAX);
	snprintf(serial, sizeof(serial), "EMU%08u", dev->index);
	if (sfp)
		sfp_fill(image, serial);
	else
		qsfp_fill(image, serial);
	return sfp ? SFP_BYTES : QSFP_BYTES;
}
