/**
 * The transparency log. A receipt waits in receipts_unlogged from the transaction that writes it, whoever writes it, until
 * the sequencer gives it its place. A tile's row only ever grows; level -1 holds the entries' bundles.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`CREATE TABLE receipt_logs (
    number smallint PRIMARY KEY,
    origin text NOT NULL UNIQUE,
    public_key bytea NOT NULL,
    salt_key bytea NOT NULL,
    size int8 NOT NULL,
    root bytea NOT NULL,
    checkpoint text NOT NULL
  ) WITH (fillfactor = 50)`

  yield* sql`CREATE TABLE receipt_log_tiles (
    log smallint NOT NULL,
    level smallint NOT NULL,
    tile int8 NOT NULL,
    hashes bytea NOT NULL,
    PRIMARY KEY (log, level, tile)
  )`
  // Hashes do not compress: trying would only cost.
  yield* sql`ALTER TABLE receipt_log_tiles ALTER COLUMN hashes SET STORAGE EXTERNAL`

  yield* sql`CREATE TABLE receipt_log_places (
    receipt_id uuid NOT NULL,
    consumer_id uuid NOT NULL,
    log smallint NOT NULL,
    leaf int8 NOT NULL,
    PRIMARY KEY (receipt_id, consumer_id)
  )`

  // Rows live for a moment. No index: it is read whole, from its beginning.
  yield* sql`CREATE TABLE receipts_unlogged (
    receipt_id uuid NOT NULL,
    consumer_id uuid NOT NULL
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0)`
  yield* sql`INSERT INTO receipts_unlogged SELECT receipt_id, consumer_id FROM receipts ORDER BY receipt_id`

  // Once a statement, not once a row: a settled batch is one insertion here.
  yield* sql`CREATE FUNCTION receipts_await_log() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO receipts_unlogged SELECT receipt_id, consumer_id FROM issued;
      RETURN NULL;
    END $$`
  yield* sql`CREATE TRIGGER await_log AFTER INSERT ON receipts REFERENCING NEW TABLE AS issued
    FOR EACH STATEMENT EXECUTE FUNCTION receipts_await_log()`
})
