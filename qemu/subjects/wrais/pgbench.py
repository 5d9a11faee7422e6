# SPDX-License-Identifier: GPL-2.0
"""PostgreSQL as an application: its files in the root image, and what is started of it."""

from __future__ import annotations

from lab.guest.boot import Program
from lab.guest.places import FOLDER, Place

CLUSTER_DIR = f"{FOLDER}/cluster"
CLIENTS = 4
TRANSACTIONS_S = 5
"""Guest seconds of transactions in one run."""

_HOME = "usr/lib/postgresql/15"
_SHARE = "usr/share/postgresql/15"
IMAGE = (
    # initdb starts the server by a shell, and looks up its user.
    *("bin/sh", "etc/passwd"),
    *(f"{_HOME}/bin/{name}" for name in ("initdb", "pgbench", "postgres")),
    *(f"{_HOME}/lib/{name}.so" for name in ("dict_snowball", "plpgsql")),
    *(f"{_SHARE}/{name}.sample" for name in ("pg_hba.conf", "pg_ident.conf", "postgresql.conf")),
    *(f"{_SHARE}/system_{name}.sql" for name in ("constraints", "functions", "views")),
    *(f"{_SHARE}/{name}.sql" for name in ("information_schema", "snowball_create")),
    *(f"{_SHARE}/{name}" for name in ("errcodes.txt", "postgres.bki", "sql_features.txt")),
    *(f"{_SHARE}/extension/plpgsql{name}" for name in (".control", "--1.0.sql")),
    f"{_SHARE}/timezonesets/Default",
)
"""What the guest takes of the root image in addition to the libraries."""

CLUSTER = Program(
    "cluster",
    ("wrais-pgbench", "--make", "--scale", str(CLIENTS), CLUSTER_DIR),
    300,
    image=IMAGE,
    busy_s=20,
)
"""Makes the tables, a branch for each client, before any start."""

PLACE = Place("database", "PostgreSQL", depth=2, first=(CLUSTER,))

COMMAND = (
    *("wrais-pgbench", "--clients", str(CLIENTS), "--seconds", str(TRANSACTIONS_S)),
    CLUSTER_DIR,
)
"""What a start is."""
