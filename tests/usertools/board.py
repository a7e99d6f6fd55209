# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""The Grafana board against board-schema.json, and what a schema cannot say; damaged boards are refused.

Usage: board.py
"""
import copy
import json
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
BOARD = FOLDER.parent.parent / "usertools/grafana/mlxpmd.json"
COLUMNS = 24
SKIP = 77
# Variables of Grafana's own that the board uses.
BUILT_IN = {"__rate_interval", "__all"}
VARIABLE = re.compile(r"\$\{?(\w+)")

try:
    import jsonschema
except ImportError:
    print("SKIP: python3-jsonschema is not installed")
    sys.exit(SKIP)

VALIDATOR = jsonschema.Draft7Validator(json.loads((FOLDER / "board-schema.json").read_text(encoding="utf-8")))


def twice(values):
    """Those that are there more than once."""
    return sorted({value for value in values if values.count(value) > 1})


def placement_faults(panels):
    """Panels beside the grid or over each other: Grafana would move them."""
    cells, faults = {}, []
    for panel in panels:
        pos = panel["gridPos"]
        if pos["x"] + pos["w"] > COLUMNS:
            faults.append(f"panel {panel['id']}: wider than {COLUMNS} columns")
        for x in range(pos["x"], pos["x"] + pos["w"]):
            for y in range(pos["y"], pos["y"] + pos["h"]):
                if cells.setdefault((x, y), panel["id"]) != panel["id"]:
                    faults.append(f"panel {panel['id']}: over panel {cells[x, y]}")
    return faults


def faults_of(board):
    """What keeps Grafana from showing the board as it is meant."""
    faults = [f"{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in VALIDATOR.iter_errors(board)]
    if faults:
        return faults
    panels, names = board["panels"], [variable["name"] for variable in board["templating"]["list"]]
    faults += [f"panel id {panel} twice" for panel in twice([panel["id"] for panel in panels])]
    faults += [f"variable {name} twice" for name in twice(names)]
    for panel in panels:
        faults += [f"panel {panel['id']}: query {ref} twice" for ref in twice([t["refId"] for t in panel["targets"]])]
    used = set(VARIABLE.findall(json.dumps([panels, board["templating"]["list"]])))
    faults += [f"variable {name} is not defined" for name in sorted(used - set(names) - BUILT_IN)]
    return faults + placement_faults(panels)


def panel_set(index, *path, value=None):
    """A change of a panel: another value at the path, or none there."""
    def change(board):
        at = board["panels"][index]
        for key in path[:-1]:
            at = at[key]
        if value is None:
            del at[path[-1]]
        else:
            at[path[-1]] = value
    return change


# Each of them must be refused.
DAMAGE = {
    "no title": lambda board: board.pop("title"),
    "no schemaVersion": lambda board: board.pop("schemaVersion"),
    "schemaVersion as text": lambda board: board.update(schemaVersion="38"),
    "older schemaVersion": lambda board: board.update(schemaVersion=12),
    "rows of the oldest format": lambda board: board.update(rows=board.pop("panels")),
    "panels as object": lambda board: board.update(panels={}),
    "no variables": lambda board: board.update(templating=[]),
    "variable renamed": lambda board: board["templating"]["list"][1].update(name="programs"),
    "unknown panel type": panel_set(0, "type", value="graph"),
    "no place": panel_set(0, "gridPos"),
    "place without width": panel_set(0, "gridPos", "w"),
    "beside the grid": panel_set(0, "gridPos", "x", value=23),
    "over another": panel_set(1, "gridPos", "x", value=1),
    "same id": panel_set(1, "id", value=1),
    "no queries": panel_set(0, "targets", value=[]),
    "query without expression": panel_set(0, "targets", 0, "expr"),
    "query for another data source": panel_set(0, "targets", 0, "datasource", "type", value="influxdb"),
    "data source by name": panel_set(0, "datasource", value="Prometheus"),
    "misspelled": panel_set(0, "tragets", value=[]),
    "same query letter": panel_set(0, "targets", 1, "refId", value="A"),
    "unknown variable": panel_set(0, "targets", 0, "expr", value="mlxpmd_up{prefix=\"$program\"}"),
}


def main():
    board = json.loads(BOARD.read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(VALIDATOR.schema)
    faults = faults_of(board)
    for fault in faults:
        print(f"FAILED: {BOARD.name}: {fault}")
    for what, damage in DAMAGE.items():
        damaged = copy.deepcopy(board)
        damage(damaged)
        if not faults_of(damaged):
            faults.append(what)
            print(f"FAILED: not refused: {what}")
    print(f"{len(board['panels'])} panels, {len(DAMAGE)} damaged boards refused")
    return 1 if faults else 0


sys.exit(main())
