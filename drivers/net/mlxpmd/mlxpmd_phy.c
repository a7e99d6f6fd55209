/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Settings of the physical port that do not concern queues. */

#include <assert.h>

#include <rte_geneve.h>
#include <rte_vxlan.h>

#include "mlxpmd_ctrl.h"

int
mlxpmd_flow_ctrl_get(struct rte_eth_dev *eth_dev, struct rte_eth_fc_conf *conf)
{
	static const enum rte_eth_fc_mode modes[2][2] = {
		{ RTE_ETH_FC_NONE, RTE_ETH_FC_TX_PAUSE }, { RTE_ETH_FC_RX_PAUSE, RTE_ETH_FC_FULL },
	};
	struct mdv_dev *mdv = MLXPMD_PORT(eth_dev)->mdv;
	struct mdv_pause pause;
	int rc = mdv->port->pause_get(mdv, &pause);

	if (rc == 0)
		*conf = (struct rte_eth_fc_conf){ .mode = modes[pause.rx][pause.tx] };
	return rc;
}

/* Watermarks and time of pause are the firmware's: as in net_mlx5 they are ignored. 0 or -errno. */
static int
pause_of(const struct mlxpmd_port *port, const struct rte_eth_fc_conf *conf, struct mdv_pause *pause)
{
	*pause = (struct mdv_pause){
		.rx = conf->mode == RTE_ETH_FC_RX_PAUSE || conf->mode == RTE_ETH_FC_FULL,
		.tx = conf->mode == RTE_ETH_FC_TX_PAUSE || conf->mode == RTE_ETH_FC_FULL,
	};
	if (conf->autoneg != 0)
		return MLXPMD_FAIL(EINVAL, "port %u: flow control cannot be negotiated: autoneg must be 0",
				   port->port_id);
	if (conf->mac_ctrl_frame_fwd != 0)
		return MLXPMD_FAIL(ENOTSUP, "port %u: the port does not deliver pause frames that it obeys: "
				   "mac_ctrl_frame_fwd must be 0", port->port_id);
	if (port->mdv->caps.vf)
		return MLXPMD_FAIL(ENOTSUP, "port %u: flow control is set by the physical function", port->port_id);
	return 0;
}

int
mlxpmd_flow_ctrl_set(struct rte_eth_dev *eth_dev, struct rte_eth_fc_conf *conf)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mdv_pause pause;
	int rc = pause_of(port, conf, &pause);

	return rc != 0 ? rc : port->mdv->port->pause_set(port->mdv, &pause);
}

int
mlxpmd_priority_flow_ctrl_set(struct rte_eth_dev *eth_dev, struct rte_eth_pfc_conf *conf)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mdv_pause pause;
	int rc = pause_of(port, &conf->fc, &pause);

	if (rc != 0)
		return rc;
	if (port->mdv->port->pfc_set == NULL)
		return MLXPMD_FAIL(ENOTSUP, "port %u: priority flow control is set by the kernel (dcb pfc), or through "
				   "VFIO", port->port_id);
	return port->mdv->port->pfc_set(port->mdv, conf->priority, &pause);
}

static_assert(MDV_FEC_OFF == RTE_ETH_FEC_MODE_CAPA_MASK(NOFEC) && MDV_FEC_AUTO == RTE_ETH_FEC_MODE_CAPA_MASK(AUTO) &&
	      MDV_FEC_BASER == RTE_ETH_FEC_MODE_CAPA_MASK(BASER) && MDV_FEC_RS == RTE_ETH_FEC_MODE_CAPA_MASK(RS),
	      "modes of forward error correction");

static int
fec_own(const struct mlxpmd_port *port)
{
	return !port->mdv->caps.vf ? 0 : MLXPMD_FAIL(ENOTSUP, "port %u: forward error correction is the physical "
						     "function's", port->port_id);
}

static int
fec_caps(const struct mlxpmd_port *port, struct mdv_fec_cap caps[MDV_FEC_SPEEDS])
{
	int rc = fec_own(port);

	return rc != 0 ? rc : port->mdv->port->fec_caps(port->mdv, caps);
}

int
mlxpmd_fec_get_capability(struct rte_eth_dev *eth_dev, struct rte_eth_fec_capa *capa, unsigned int num)
{
	struct mdv_fec_cap caps[MDV_FEC_SPEEDS];
	int n = fec_caps(MLXPMD_PORT(eth_dev), caps);

	for (int i = 0; i < n && (unsigned int)n <= num; i++)
		capa[i] = (struct rte_eth_fec_capa){ .speed = caps[i].speed_mbps, .capa = caps[i].modes };
	return n;
}

int
mlxpmd_fec_get(struct rte_eth_dev *eth_dev, uint32_t *capa)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	int rc = fec_own(port);

	return rc != 0 ? rc : port->mdv->port->fec_get(port->mdv, capa);
}

int
mlxpmd_fec_set(struct rte_eth_dev *eth_dev, uint32_t capa)
{
	struct mdv_fec_cap caps[MDV_FEC_SPEEDS];
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	int n = fec_caps(port, caps);
	uint32_t known = 0;

	if (n < 0)
		return n;
	for (int i = 0; i < n; i++)
		known |= caps[i].modes;
	if ((capa & ~known) != 0)
		return MLXPMD_FAIL(EINVAL, "port %u: forward error correction %#x: the port has %#x", port->port_id,
				   capa, known);
	/* Not all releases of ethdev refuse 0. */
	if (capa == 0 || (capa & (capa - 1)) != 0)
		return MLXPMD_FAIL((capa & MDV_FEC_AUTO) != 0 ? ENOTSUP : EINVAL, "port %u: forward error correction "
				   "%#x: the device takes one mode, or selects among all", port->port_id, capa);
	return port->mdv->port->fec_set(port->mdv, capa);
}

int
mlxpmd_module_info(struct rte_eth_dev *eth_dev, struct rte_eth_dev_module_info *info)
{
	struct mdv_dev *mdv = MLXPMD_PORT(eth_dev)->mdv;
	struct mdv_module module;
	int rc = mdv->port->module_info(mdv, &module);

	if (rc == 0)
		*info = (struct rte_eth_dev_module_info){ .type = module.type, .eeprom_len = module.bytes };
	return rc;
}

int
mlxpmd_module_eeprom(struct rte_eth_dev *eth_dev, struct rte_dev_eeprom_info *info)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mdv_module module;
	int rc = port->mdv->port->module_info(port->mdv, &module);

	if (rc != 0)
		return rc;
	if (info->offset > module.bytes || info->length > module.bytes - info->offset)
		return MLXPMD_FAIL(EINVAL, "port %u: the module has %u bytes, not %u at %u", port->port_id, module.bytes,
				   info->length, info->offset);
	return port->mdv->port->module_read(port->mdv, info->offset, info->length, info->data);
}

int
mlxpmd_udp_tunnel_port_add(struct rte_eth_dev *eth_dev, struct rte_eth_udp_tunnel *tunnel)
{
	static const struct {
		uint16_t udp_port;
		uint8_t type;
		const char *name;
	} known[] = {
		{ RTE_VXLAN_DEFAULT_PORT, RTE_ETH_TUNNEL_TYPE_VXLAN, "VXLAN" },
		{ RTE_VXLAN_GPE_DEFAULT_PORT, RTE_ETH_TUNNEL_TYPE_VXLAN_GPE, "VXLAN-GPE" },
		{ RTE_GENEVE_DEFAULT_PORT, RTE_ETH_TUNNEL_TYPE_GENEVE, "GENEVE" },
	};
	const struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);

	for (size_t i = 0; i < RTE_DIM(known); i++) {
		if (tunnel->prot_type != known[i].type)
			continue;
		if (tunnel->udp_port == known[i].udp_port)
			return 0;
		return MLXPMD_FAIL(ENOTSUP, "port %u: the device parses %s at UDP port %u, not %u", port->port_id,
				   known[i].name, known[i].udp_port, tunnel->udp_port);
	}
	return MLXPMD_FAIL(ENOTSUP, "port %u: the device parses no UDP tunnel of type %u", port->port_id,
			   tunnel->prot_type);
}
