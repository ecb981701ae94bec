/**
 * The operator's sessions, and what the operator did.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const operator = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The hash covers the token and the operator's key: another key opens no session.
  yield* sql`CREATE TABLE operator_sessions (
    session_id uuid PRIMARY KEY,
    hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    created_at timestamptz(3) NOT NULL,
    expires_at timestamptz(3) NOT NULL,
    last_used_at timestamptz(3) NOT NULL
  )`

  // Append-only: the service's role may not change or delete its rows.
  yield* sql`CREATE TABLE audit_trail (
    entry_id uuid PRIMARY KEY,
    recorded_at timestamptz(3) NOT NULL,
    action text NOT NULL CHECK (char_length(action) BETWEEN 1 AND 50),
    actor text NOT NULL CHECK (char_length(actor) BETWEEN 1 AND 100),
    session_id uuid,
    address text NOT NULL CHECK (char_length(address) <= 100),
    subject text CHECK (char_length(subject) <= 200),
    reason text CHECK (char_length(reason) <= 1000),
    details text CHECK (char_length(details) <= 2000)
  )`
  yield* sql`CREATE INDEX audit_trail_of_subject ON audit_trail (subject, entry_id DESC) WHERE subject IS NOT NULL`
  yield* sql`CREATE INDEX audit_trail_by_action ON audit_trail (action, entry_id DESC)`
})
