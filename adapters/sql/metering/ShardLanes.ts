/**
 * The lanes of calls. On one PostgreSQL there is one. On a Citus cluster, where docs/citus.sql has spread the tables by consumer,
 * each shard has one, with a connection to the worker that has the shard: a batch of one shard is a transaction of one worker.
 * Which of both it is shows the first call.
 *
 * A shard that was moved is still reached through the worker that had it, until the places are read again. Consumers of a shard
 * that was split can be in one batch: Citus rejects it (`isOfSeveralShards`), and nothing was written.
 */
import { PgClient } from "@effect/sql-pg"
import { Deferred, Effect, Redacted, Schedule, Scope } from "effect"
import type { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import { storeSql } from "../shared/StoreSql.ts"

type Lane<Item, Answer> = (item: Item) => Effect.Effect<Answer, StoreUnavailable>

const CONSUMERS_KNOWN_MAX = 100_000
const PLACES_READ_EVERY = "30 seconds"

interface Place {
  readonly shard: bigint
  readonly host: string
  readonly port: number
}

/** `config` names the server at this moment, and `forget` takes back which shards the consumers are in. */
export const make = Effect.fnUntraced(function* <Item, Answer>(
  consumerOf: (item: Item) => string,
  lane: (
    name: string,
    config: () => PgClient.PgClientConfig,
    forget: Effect.Effect<void>
  ) => Effect.Effect<Lane<Item, Answer>, never, Scope.Scope>
) {
  const { config } = yield* PgClient.PgClient
  const sql = yield* storeSql
  const scope = yield* Effect.scope
  const only = yield* lane("calls", () => config, Effect.void)
  const shards = new Map<string, bigint>()
  const lanes = new Map<bigint, Lane<Item, Answer>>()
  const places = new Map<bigint, Place>()

  const readPlaces = Effect.gen(function* () {
    const found = yield* sql<Place>`
      SELECT shardid AS shard, nodename AS host, nodeport AS port FROM citus_shards WHERE table_name = 'wallets'::regclass`
    for (const place of found) places.set(place.shard, place)
  })

  /** The base configuration where the place is unknown. */
  const configOf = (shard: bigint): PgClient.PgClientConfig => {
    const place = places.get(shard)
    if (place === undefined || config.url === undefined) return config
    const url = new URL(Redacted.value(config.url))
    url.hostname = place.host
    url.port = String(place.port)
    const { applicationName, password, ssl, startupParameters } = config
    return { url: Redacted.make(url.href), applicationName, password, ssl, startupParameters }
  }

  const shardOf = Effect.fnUntraced(function* (consumerId: string) {
    const shard = yield* sql<{ readonly shard: bigint }>`
      SELECT get_shard_id_for_distribution_column('wallets', ${consumerId}::uuid) AS shard`.one((row) => row.shard)
    if (shards.size >= CONSUMERS_KNOWN_MAX) shards.clear()
    shards.set(consumerId, shard)
    return shard
  })

  const forget = Effect.sync(() => shards.clear())

  const laneOf = Effect.fnUntraced(function* (shard: bigint) {
    if (!places.has(shard)) yield* readPlaces
    const known = lanes.get(shard)
    if (known !== undefined) return known
    const made = yield* lane(`calls ${shard}`, () => configOf(shard), forget).pipe(Scope.provide(scope))
    lanes.set(shard, made)
    return made
  })

  /** All who ask while it is found out wait for one answer, and go on in the order of their calls. */
  const asked = new Map<string, Deferred.Deferred<Lane<Item, Answer>, StoreUnavailable>>()
  const once = (name: string, find: Effect.Effect<Lane<Item, Answer>, StoreUnavailable>) =>
    Effect.suspend(() => {
      const earlier = asked.get(name)
      if (earlier !== undefined) return Deferred.await(earlier)
      const found = Deferred.makeUnsafe<Lane<Item, Answer>, StoreUnavailable>()
      asked.set(name, found)
      const answered = Effect.onExit(find, (exit) =>
        Effect.sync(() => {
          asked.delete(name)
          Deferred.doneUnsafe(found, exit)
        })
      )
      return Effect.andThen(Effect.forkIn(answered, scope), Deferred.await(found))
    })

  const ofShard: Lane<Item, Answer> = (item) => {
    const consumer = consumerOf(item)
    const shard = shards.get(consumer)
    const ready = shard === undefined ? undefined : lanes.get(shard)
    if (ready !== undefined) return ready(item)
    return Effect.flatMap(once(consumer, Effect.flatMap(shardOf(consumer), laneOf)), (made) => made(item))
  }

  let chosen: Lane<Item, Answer> | undefined
  const choose = Effect.gen(function* () {
    const isCluster = yield* sql`SELECT FROM pg_class WHERE oid = to_regclass('pg_dist_partition')`.hasRows
    const isSpread =
      isCluster && (yield* sql`SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass('wallets')`.hasRows)
    if (isSpread) {
      yield* readPlaces.pipe(Effect.ignore, Effect.repeat(Schedule.spaced(PLACES_READ_EVERY)), Effect.forkIn(scope))
    }
    return (chosen = isSpread ? ofShard : only)
  })

  const submit: Lane<Item, Answer> = (item) =>
    chosen === undefined ? Effect.flatMap(once("", choose), (lanesOf) => lanesOf(item)) : chosen(item)
  return submit
})
