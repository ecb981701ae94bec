/**
 * The pool of connections to one PostgreSQL.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import { Duration, type Redacted } from "effect"

export interface Database {
  readonly url: Redacted.Redacted
  /** Of the role that owns the tables and migrates; the role of `url` where it is left out. */
  readonly ownerUrl?: Redacted.Redacted | undefined
  readonly connectionsMax: number
}

/** A node that hangs, or is cut off, in the middle of a transaction must not keep its locks, of wallets for example. */
const startupParameters = { idle_in_transaction_session_timeout: "20s" }

/** The peer of a connection that waits for an answer may have vanished: the first probe goes out after this long. */
const KEEP_ALIVE = Duration.seconds(10)

export const client = ({ connectionsMax, url }: Database) =>
  PgClient.layer({
    url,
    maxConnections: connectionsMax,
    applicationName: "agent-tool-billing",
    keepAlive: KEEP_ALIVE,
    startupParameters
  })
