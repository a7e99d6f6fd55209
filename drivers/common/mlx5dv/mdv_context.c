/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Opens and closes a device in stages. */

#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "mdv_private.h"
#include "mdv_recorder.h"
#include "mdv_stage.h"

/* ------------------------------------------------------------------ stages */

static int
context_up(struct mdv_dev *dev)
{
	return dev->backend->open(dev);
}

static void
context_down(struct mdv_dev *dev)
{
	dev->backend->close(dev);
}

static int
events_up(struct mdv_dev *dev)
{
	return dev->backend->events_up(dev);
}

static void
events_down(struct mdv_dev *dev)
{
	if (dev->backend->events_down != NULL)
		dev->backend->events_down(dev);
}

static int
pd_up(struct mdv_dev *dev)
{
	struct mlx5dv_pd dv_pd = { 0 };
	struct mlx5dv_obj obj = { .pd = { .out = &dv_pd } };
	int err;

	dev->pd = MDV_RETRY_PTR(dev, MDV_RUN(dev, ibv_alloc_pd(dev->ibv)));
	if (dev->pd == NULL)
		return MDV_FAIL(dev->name, errno, "ibv_alloc_pd failed: %s", mdv_errno_name(errno));
	obj.pd.in = dev->pd;
	err = mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD);
	if (err != 0) {
		MDV_LOG(ERR, dev->name, "mlx5dv_init_obj of the PD failed: %s",
			mdv_errno_name(err < 0 ? EIO : err));
		(void)MDV_RUN(dev, ibv_dealloc_pd(dev->pd));
		return mdv_fail(err < 0 ? EIO : err);
	}
	dev->pdn = dv_pd.pdn;
	return 0;
}

static void
pd_down(struct mdv_dev *dev)
{
	int err;

	/* Lost objects still refer to the PD; closing the context destroys both. */
	if (dev->lost != 0) {
		if (!mdv_removed(dev))
			MDV_LOG(WARNING, dev->name,
				"PD 0x%x is left to %s with %u lost objects", dev->pdn,
				dev->mode == MDV_OPEN_VFIO ? "the device" : "the kernel", dev->lost);
		MDV_LEFT(dev->pd);
		return;
	}
	err = MDV_RUN_DESTROY(dev, ibv_dealloc_pd, dev->pd);
	if (err != 0)
		MDV_LOG_ERR(dev, "PD 0x%x stays behind -> %s", dev->pdn, mdv_errno_name(err));
}

static int
uar_up(struct mdv_dev *dev)
{
	dev->uar = MDV_RETRY_PTR(dev, mlx5dv_devx_alloc_uar(dev->ibv, MLX5DV_UAR_ALLOC_TYPE_NC));
	if (dev->uar == NULL)
		dev->uar = MDV_RETRY_PTR(dev, mlx5dv_devx_alloc_uar(dev->ibv, MLX5DV_UAR_ALLOC_TYPE_BF));
	if (dev->uar != NULL)
		return 0;
	return MDV_FAIL(dev->name, errno, "mlx5dv_devx_alloc_uar failed: %s", mdv_errno_name(errno));
}

static void
uar_down(struct mdv_dev *dev)
{
	mlx5dv_devx_free_uar(dev->uar);
}

static int
eqn_up(struct mdv_dev *dev)
{
	int err = MDV_RETRY_ERR(dev, mlx5dv_devx_query_eqn(dev->ibv, 0, &dev->eqn));

	if (err == 0)
		return 0;
	return MDV_FAIL(dev->name, err, "mlx5dv_devx_query_eqn of vector 0 failed: %s", mdv_errno_name(err));
}

static int
td_up(struct mdv_dev *dev)
{
	struct prm_alloc_transport_domain_in in = { 0 };

	prm_alloc_transport_domain_in_set_opcode(&in, PRM_CMD_OP_ALLOC_TRANSPORT_DOMAIN);
	dev->td = mdv_obj_create(dev, &in, sizeof(in));
	if (dev->td == NULL)
		return -rte_errno;
	dev->tdn = dev->td->id;
	return 0;
}

static void
td_down(struct mdv_dev *dev)
{
	mdv_obj_destroy(dev->td);
}

static int
port_up(struct mdv_dev *dev)
{
	return dev->backend->port_up(dev);
}

static void
port_down(struct mdv_dev *dev)
{
	dev->backend->port_down(dev);
}

static void
mdv_stage_failed(const struct mdv_dev *dev, const char *name, int ret)
{
	MDV_LOG(DEBUG, dev->name, "open failed at stage \"%s\": %s", name, mdv_errno_name(-ret));
}

MDV_STAGES_DEFINE(mdv, struct mdv_dev)

/* A stage may use everything that the stages before it set up. */
static const struct mdv_stage stages[] = {
	{ "context", context_up, context_down },
	{ "capabilities", mdv_caps_read, NULL },
	{ "LAG", mdv_lag_check, NULL },
	{ "PD", pd_up, pd_down },
	{ "UAR", uar_up, uar_down },
	{ "EQ number", eqn_up, NULL },
	{ "events", events_up, events_down },
	{ "transport domain", td_up, td_down },
	{ "port", port_up, port_down },
	{ "uplink", mdv_uplink_open, mdv_uplink_close },
	{ "counters", mdv_counters_open, mdv_counters_close },
	{ "rules", mdv_rules_open, mdv_rules_close },
	{ "memory", mdv_mr_open, mdv_mr_close },
};

static const struct mdv_backend *const backends[] = {
	[MDV_OPEN_VERBS] = &mdv_backend_verbs,
	[MDV_OPEN_VFIO] = &mdv_backend_vfio,
};

/* Name and kind of the device, and the address of its PCI function. */
static int
identity_set(struct mdv_dev *dev, const char *name, enum mdv_open_mode mode)
{
	snprintf(dev->name, sizeof(dev->name), "%s", name);
	dev->sf = strncmp(name, MDV_SF_PREFIX, strlen(MDV_SF_PREFIX)) == 0;
	if (dev->sf && mode != MDV_OPEN_VERBS)
		return MDV_FAIL(name, ENOTSUP, "a sub-function cannot be opened through VFIO, it has no PCI function "
				"of its own: leave out devarg open=vfio");
	if (dev->sf)
		return mdv_sf_pci(name, &dev->pci);
	if (rte_pci_addr_parse(name, &dev->pci) != 0)
		return MDV_FAIL(name, EINVAL, "neither a PCI address nor a sub-function " MDV_SF_PREFIX "N");
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_open_device)
int
mdv_open_device(const char *name, enum mdv_open_mode mode, const struct mdv_recorder_owner *owner, struct mdv_dev **out)
{
	struct mdv_dev_own *own;
	struct mdv_dev *dev;
	int ret;

	*out = NULL;
	if ((unsigned int)mode >= RTE_DIM(backends) || backends[mode] == NULL)
		return MDV_FAIL(name, EINVAL, "unknown open mode %d", (int)mode);
	own = mdv_zalloc_shared(name, sizeof(*own), "a device");
	if (own == NULL)
		return -ENOMEM;
	own->ib_port = 1;
	dev = &own->dev;
	dev->mode = mode;
	dev->backend = backends[mode];
	dev->port = dev->backend->port;
	dev->netdev_sock = dev->event_fd = -1;
	pthread_mutex_init(&dev->objects_lock, NULL);
	ret = identity_set(dev, name, mode);
	if (ret == 0)
		ret = mdv_recorder_up(dev);
	if (ret == 0)
		ret = mdv_stages_up(dev, stages, RTE_DIM(stages));
	if (ret != 0) {
		mdv_recorder_probe_failed(dev, owner, ret);
		mdv_recorder_down(dev);
		rte_free(dev);
		return mdv_fail(-ret);
	}
	*out = dev;
	MDV_LOG(INFO, name, "%s open, firmware %s, interface %s", dev->ibdev_name, dev->fw_version,
		dev->netdev_name[0] != '\0' ? dev->netdev_name : "none");
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_open)
int
mdv_open(const struct rte_pci_addr *pci, enum mdv_open_mode mode, struct mdv_dev **out)
{
	char name[PCI_PRI_STR_SIZE + 1];

	rte_pci_device_name(pci, name, sizeof(name));
	return mdv_open_device(name, mode, NULL, out);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_close)
void
mdv_close(struct mdv_dev *dev)
{
	if (dev == NULL)
		return;
	mdv_stages_down(dev, stages, RTE_DIM(stages));
	mdv_recorder_down(dev);
	free(dev->rates);
	rte_free(dev);
}

void
mdv_pci_id_set(struct mdv_dev *dev, uint16_t id)
{
	/* Linux, mlx5/core/main.c, mlx5_core_pci_table: those with MLX5_PCI_DEV_IS_VF. */
	static const uint16_t vf[] = { 0x1012, 0x1014, 0x1016, 0x1018, 0x101a, 0x101c, 0x101e, 0xa2d3 };

	dev->caps.pci_device_id = id;
	/* A sub-function, too: its id is that of its PF. */
	dev->caps.vf = dev->sf;
	for (size_t i = 0; i < RTE_DIM(vf); i++)
		dev->caps.vf |= vf[i] == id;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_port_owned)
bool
mdv_port_owned(const struct mdv_dev *dev)
{
	return dev->backend->exclusive || dev->netdev_name[0] != '\0';
}
