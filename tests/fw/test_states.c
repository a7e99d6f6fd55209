/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The state machines of SQ and RQ: every transition, permitted and prohibited. */
#include "fw_fixture.h"

enum { RST = 0, RDY = 1, ERR = 3 };
static const unsigned states[] = {RST, RDY, ERR};

/* What the PRM permits: ERR is left through RST, and entered from RDY. Not the emulator's own table. */
static bool
permitted(unsigned from, unsigned to)
{
	return !(from == ERR && to == RDY) && !(from == RST && to == ERR);
}

typedef uint32_t (*go_fn)(struct fix *f, uint32_t id, unsigned claimed, unsigned wanted);

static unsigned
state_of(struct fix *f, bool is_sq, uint32_t id)
{
	CHECK_EQ(fix_simple(f, is_sq ? PRM_CMD_OP_QUERY_SQ : PRM_CMD_OP_QUERY_RQ, id), 0);
	if (is_sq)
		return prm_sqc_get_state(prm_query_sq_out_sq_context((void *)f->out));
	return prm_rqc_get_state(prm_query_rq_out_rq_context((void *)f->out));
}

/* From any state to the wanted one, by permitted steps. */
static void
bring(struct fix *f, bool is_sq, go_fn go, uint32_t id, unsigned to)
{
	unsigned is = state_of(f, is_sq, id);

	if (is != RST)
		CHECK_EQ(go(f, id, is, RST), 0);
	if (to != RST)
		CHECK_EQ(go(f, id, RST, RDY), 0);
	if (to == ERR)
		CHECK_EQ(go(f, id, RDY, ERR), 0);
	CHECK_EQ(state_of(f, is_sq, id), to);
}

static void
test_machine(struct fix *f, bool is_sq, uint32_t id)
{
	go_fn go = is_sq ? fix_sq_go : fix_rq_go;

	for (unsigned s = 0; s < 3; s++)
		for (unsigned claim = 0; claim < 3; claim++)
			for (unsigned w = 0; w < 3; w++) {
				unsigned is = states[s], to = states[w];
				uint32_t want = 0, got;

				bring(f, is_sq, go, id, is);
				got = go(f, id, states[claim], to);
				if (states[claim] != is)
					want = fix_code(FW_STATE_CLAIM);
				else if (!permitted(is, to))
					want = fix_code(FW_STATE_FORBIDDEN);
				CHECK_EQ(got, want);
				CHECK_EQ(state_of(f, is_sq, id), want == 0 ? to : is);
			}
	/* A state that does not exist. */
	CHECK_EQ(go(f, id, state_of(f, is_sq, id), 2), fix_code(FW_RESERVED));
}

/* A queue is born in RST and starts from the beginning after it was reset. */
static void
test_birth_and_reset(struct fix *f, uint32_t cqn, uint32_t tisn)
{
	struct prm_create_sq_in sq_in;
	struct prm_create_rq_in rq_in;
	struct emu_sq *sq;

	fix_sq_in(f, &sq_in, cqn, tisn);
	prm_sqc_set_state(prm_create_sq_in_ctx(&sq_in), RDY);
	CHECK_EQ(fix_exec(f, &sq_in, sizeof(sq_in)), fix_code(FW_STATE_NOT_RST));
	fix_rq_in(f, &rq_in, cqn);
	prm_rqc_set_state(prm_create_rq_in_ctx(&rq_in), ERR);
	CHECK_EQ(fix_exec(f, &rq_in, sizeof(rq_in)), fix_code(FW_STATE_NOT_RST));

	sq = emu_obj_find(f->dev, EMU_OBJ_SQ, fix_sq(f, cqn, tisn));
	CHECK_EQ(fix_sq_go(f, sq->obj.id, RST, RDY), 0);
	sq->ci = sq->hw_pi = 7;
	CHECK_EQ(fix_sq_go(f, sq->obj.id, RDY, RDY), 0);
	CHECK_EQ(sq->ci, 7);
	CHECK_EQ(fix_sq_go(f, sq->obj.id, RDY, RST), 0);
	CHECK_EQ(sq->ci, 0);
	CHECK_EQ(sq->hw_pi, 0);
}

int
main(void)
{
	static struct fix f;
	uint32_t cqn, tisn;

	fix_open(&f);
	cqn = fix_cq(&f);
	tisn = fix_tis(&f);
	test_machine(&f, true, fix_sq(&f, cqn, tisn));
	test_machine(&f, false, fix_rq(&f, cqn));
	test_birth_and_reset(&f, cqn, tisn);
	fix_close(&f);
	return fix_result("states");
}
