# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""The constants of libibverbs and libmlx5 as pyverbs has them.

Those of libibverbs are in `enums` (rdma-core 44), in `libibverbs_enums` (56), or members of enumerations there (65);
those of libmlx5 in `mlx5_enums`, or members of enumerations there (65).
"""
import enum

import pyverbs.providers.mlx5.mlx5_enums as _mlx5_enums
try:
    import pyverbs.libibverbs_enums as _enums
except ImportError:
    import pyverbs.enums as _enums

for _name, _value in (*vars(_enums).items(), *vars(_mlx5_enums).items()):
    if isinstance(_value, type) and issubclass(_value, enum.Enum):
        globals().update(_value.__members__)
    elif _name.startswith(("IBV_", "MLX5DV_")):
        globals()[_name] = _value
