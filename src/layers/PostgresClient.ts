/**
 * The connection pool of one PostgreSQL.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import { Duration, type Redacted } from "effect"

export interface Database {
  readonly url: Redacted.Redacted
  /** Of the role that owns the tables and migrates. Default: the role of `url`. */
  readonly ownerUrl?: Redacted.Redacted | undefined
  readonly connectionsMax: number
}

/** A node that hangs or is disconnected in a transaction must not keep its locks, for example on wallets. */
const startupParameters = { idle_in_transaction_session_timeout: "20s" }

/** The peer of a waiting connection may have vanished: the first probe is sent after this time. */
const KEEP_ALIVE = Duration.seconds(10)

export const client = ({ connectionsMax, url }: Database) =>
  PgClient.layer({
    url,
    maxConnections: connectionsMax,
    applicationName: "agent-tool-billing",
    keepAlive: KEEP_ALIVE,
    startupParameters
  })
