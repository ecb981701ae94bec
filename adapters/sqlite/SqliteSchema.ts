/**
 * Tables of the ledger in SQLite. The database itself rejects a balance below zero, a sum above 2^63 - 1, and a change of
 * a transfer.
 */
import type { DatabaseSync } from "node:sqlite"

const VERSION = 1

const SCHEMA = `
  CREATE TABLE book (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    mode TEXT NOT NULL,
    account_id TEXT
  ) STRICT;

  CREATE TABLE balances (
    owner_id TEXT NOT NULL,
    account TEXT NOT NULL,
    lot TEXT NOT NULL,
    credits INTEGER NOT NULL CHECK (credits >= 0),
    debits INTEGER NOT NULL CHECK (debits >= 0),
    PRIMARY KEY (owner_id, account, lot),
    CHECK (debits <= credits OR account IN ('processor', 'consumer_debt', 'loss'))
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE transfers (
    transfer_id TEXT NOT NULL,
    leg INTEGER NOT NULL,
    reference TEXT NOT NULL,
    kind TEXT NOT NULL,
    debit TEXT NOT NULL,
    credit TEXT NOT NULL CHECK (credit <> debit),
    amount INTEGER NOT NULL CHECK (amount > 0),
    consumer_id TEXT,
    provider_id TEXT,
    lot TEXT,
    effective_ms INTEGER NOT NULL,
    recorded_ms INTEGER NOT NULL,
    PRIMARY KEY (transfer_id, leg),
    UNIQUE (reference, leg)
  ) STRICT, WITHOUT ROWID;

  CREATE TRIGGER transfers_are_not_updated BEFORE UPDATE ON transfers
    BEGIN SELECT RAISE(ABORT, 'A transfer is never changed'); END;
  CREATE TRIGGER transfers_are_not_deleted BEFORE DELETE ON transfers
    BEGIN SELECT RAISE(ABORT, 'A transfer is never removed'); END;

  PRAGMA user_version = ${VERSION};
`

/** Creates the tables in an empty database. */
export const prepareSchema = (database: DatabaseSync): void => {
  const version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"])
  if (version === VERSION) return
  if (version !== 0) {
    throw new Error(`The database has version ${version} of the tables, and this program reads version ${VERSION}.`)
  }
  database.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT`)
}
