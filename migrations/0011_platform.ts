/**
 * The waitlist, and what people send in. The indexes find what is new without a B-tree that every write would pay for:
 * rows come in the order of time.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`CREATE TABLE waitlist (
    id uuid PRIMARY KEY,
    email text COLLATE "C" NOT NULL UNIQUE CHECK (char_length(email) BETWEEN 3 AND 254),
    source text NOT NULL CHECK (char_length(source) <= 200),
    joined_at timestamptz(3) NOT NULL
  )`
  yield* sql`CREATE INDEX waitlist_joined ON waitlist USING brin (joined_at)`

  yield* sql`CREATE TABLE submissions (
    id uuid PRIMARY KEY,
    kind text NOT NULL CHECK (kind IN ('feedback', 'application')),
    content json NOT NULL CHECK (octet_length(content::text) <= 1048576),
    submitted_at timestamptz(3) NOT NULL
  )`
  yield* sql`CREATE INDEX submissions_of_kind ON submissions (kind, submitted_at, id)`

  yield* sql`CREATE INDEX providers_created ON providers USING brin (created_at)`
  yield* sql`CREATE INDEX consumers_created ON consumers USING brin (created_at)`
  yield* sql`CREATE INDEX tools_created ON tools USING brin (created_at)`
  yield* sql`CREATE INDEX usage_hourly_recent ON usage_hourly USING brin (hour)`
})
