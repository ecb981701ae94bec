/**
 * The tools that consumers have chosen for the market door, and the names of tools there.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const toolboxes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // A toolbox belongs to an account, under the account's id, or to one of its keys, under the key's id.
  yield* sql`CREATE TABLE toolboxes (
    id uuid PRIMARY KEY,
    consumer_id uuid NOT NULL REFERENCES consumers (id),
    tool_ids uuid[] NOT NULL CHECK (cardinality(tool_ids) BETWEEN 1 AND 1000),
    changed_at timestamptz(3) NOT NULL
  )`
  yield* sql`CREATE INDEX toolboxes_of_consumer ON toolboxes (consumer_id)`

  // An alias never changes its tool. After an erasure only the hash of the alias is left.
  yield* sql`CREATE TABLE tool_aliases (
    alias_hash bytea PRIMARY KEY,
    alias text COLLATE "C" UNIQUE CHECK (alias ~ '^[A-Za-z0-9_-]{1,40}$'),
    tool_id uuid NOT NULL UNIQUE REFERENCES tools (id),
    given_at timestamptz(3) NOT NULL
  )`
})
