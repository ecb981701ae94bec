/**
 * A Citus cluster as the server of a test run: `CITUS_URL` names a database on its coordinator that knows the workers. The
 * databases of tests are then spread over the cluster by docs/citus.sql, and every suite runs on it unchanged.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"

/** Whether the databases of this run are spread over a cluster: what only one server can show is skipped then. */
export const isCluster = process.env["CITUS_URL"] !== undefined

const script = readFileSync(new URL("../../../docs/citus.sql", import.meta.url), "utf8")

interface Node {
  readonly host: string
  readonly port: number
  readonly is_coordinator: boolean
}

/** The nodes of the cluster that the client is connected to. One PostgreSQL has none. */
const nodes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql<{ readonly is_cluster: boolean }>`
    SELECT to_regclass('pg_dist_node') IS NOT NULL AS is_cluster`
  if (!found!.is_cluster) return []
  return yield* sql<Node>`
    SELECT nodename AS host, nodeport AS port, groupid = 0 AS is_coordinator FROM pg_dist_node ORDER BY groupid`
})

const on = ({ host, port }: Node, url: Redacted.Redacted, database?: string) => {
  const place = new URL(Redacted.value(url))
  place.hostname = host
  place.port = String(port)
  if (database !== undefined) place.pathname = `/${database}`
  return Effect.provide(PgClient.layer({ url: Redacted.make(place.href), maxConnections: 1 }))
}

/** On the server of the client, or on every node of its cluster, in the database of the same name. */
export const onEveryNode = Effect.fnUntraced(function* <A, E>(
  statement: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>
) {
  const { config } = yield* PgClient.PgClient
  const all = yield* nodes
  const one = Effect.flatMap(SqlClient.SqlClient, statement)
  return all.length === 0 ? [yield* one] : yield* Effect.forEach(all, (node) => one.pipe(on(node, config.url!)))
})

/** Makes a new database of every node one cluster. The client is connected to another database of it. */
export const joinNodes = Effect.fnUntraced(function* (database: string) {
  const { config } = yield* PgClient.PgClient
  const all = yield* nodes
  for (const node of all) {
    yield* Effect.flatMap(SqlClient.SqlClient, (sql) => sql`CREATE EXTENSION citus`).pipe(
      on(node, config.url!, database)
    )
  }
  const [coordinator, ...workers] = all
  if (coordinator === undefined) return
  yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`SELECT citus_set_coordinator_host(${coordinator.host}, ${coordinator.port})`
    for (const { host, port } of workers) yield* sql`SELECT citus_add_node(${host}, ${port})`
  }).pipe(on(coordinator, config.url!, database))
})

/** What docs/citus.sql sets for its database, for another one: copies of a database do not have its settings. */
export const settingsOf = (database: string): ReadonlyArray<string> =>
  [...script.matchAll(/'(ALTER DATABASE )%I( SET [^']+)'/gu)].map(([, alter, set]) => `${alter}"${database}"${set}`)

/** Spreads the migrated tables of the client's database over its cluster. */
export const distribute = Effect.gen(function* () {
  if ((yield* nodes).length === 0) return
  const sql = yield* SqlClient.SqlClient
  for (const statement of script.replaceAll(/^\s*--.*$/gmu, "").split(/(?<=^(?:\S.*|END \$\$);)$/mu)) {
    if (statement.trim() !== "") yield* sql.unsafe(statement)
  }
})
