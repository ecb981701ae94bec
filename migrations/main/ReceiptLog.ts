/**
 * The transparency log: its keys and newest checkpoint, and its tiles.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const receiptLog = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // A stopped log no longer has the tree that was signed, and takes no more receipts. The log that follows it begins with a
  // signed statement.
  yield* sql`CREATE TABLE receipt_logs (
    number smallint PRIMARY KEY,
    origin text NOT NULL UNIQUE,
    public_key bytea NOT NULL,
    salt_key bytea NOT NULL,
    size int8 NOT NULL,
    root bytea NOT NULL,
    checkpoint text NOT NULL,
    stopped text,
    signed_note text,
    statement text
  ) WITH (fillfactor = 50)`

  // A tile is stored in 16 parts of 16 hashes, so that adding some does not write the others again. The row of a part only
  // grows. Level -1 holds bundles of entries.
  yield* sql`CREATE TABLE receipt_log_tiles (
    tile int8 NOT NULL,
    log smallint NOT NULL,
    level smallint NOT NULL,
    part smallint NOT NULL,
    hashes bytea NOT NULL,
    PRIMARY KEY (log, level, tile, part)
  )`
  // Hashes do not compress.
  yield* sql`ALTER TABLE receipt_log_tiles ALTER COLUMN hashes SET STORAGE EXTERNAL`
})
