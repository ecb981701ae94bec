/**
 * The change feed over LISTEN and NOTIFY. One connection per process listens. Its notifications, and the changes that
 * this process has published and committed, go to every reader. While that connection is lost, changes may go
 * unnoticed, so readers are told repeatedly to forget everything.
 */
import { PgClient, PgConnection } from "@effect/sql-pg"
import { Cause, Deferred, Duration, Effect, Latch, Layer, Option, PubSub, Queue, Random, Schema, Stream } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { randomBytes } from "node:crypto"
import { Change, ChangeFeed } from "../../../domain/shared/ChangeFeed.ts"
import { connectionError } from "./SqlFailures.ts"
import { storeSql } from "./StoreSql.ts"

const CHANNEL = "agent_tool_billing_changes"
const APPLICATION_NAME = "agent-tool-billing change feed"
/** A reader that is further behind loses the oldest changes. Caches also have a time to live. */
const CHANGES_WAITING_MAX = 16_384
const FORGET_EVERY = Duration.millis(400)
const RECONNECT_AFTER_MS_MIN = 50
const RECONNECT_AFTER_MS_MAX = 5_000
/** A query that gets no response reveals a connection that died silently. */
const HEARTBEAT_EVERY = Duration.seconds(2)
const HEARTBEAT_WAIT_MAX = Duration.seconds(2)

const silence = connectionError("listen", "The server does not answer", "no answer")

const Notice = Schema.fromJsonString(Schema.Struct({ node: Schema.String, sequence: Schema.Int, change: Change }))
const encodeNotice = Schema.encodeSync(Notice)
const decodeNotice = Schema.decodeUnknownOption(Notice)

export const layer: Layer.Layer<ChangeFeed, SqlError.SqlError, PgClient.PgClient | SqlClient.SqlClient> = Layer.effect(
  ChangeFeed,
  Effect.gen(function* () {
    const { config } = yield* PgClient.PgClient
    const sql = yield* storeSql
    const changes = yield* Effect.acquireRelease(PubSub.sliding<Change>(CHANGES_WAITING_MAX), PubSub.shutdown)
    const announce = (change: Change) => Effect.asVoid(PubSub.publish(changes, change))

    // A change of this node is published as soon as it is committed. It also arrives as a notification, before or after
    // that, and only as a notification if the response to COMMIT is lost. The first of the two publishes it; the second
    // finds it here.
    const node = randomBytes(8).toString("hex")
    const announcedOnce = new Set<number>()
    let lastSequence = 0
    const announceOwn = (sequence: number, change: Change) =>
      Effect.suspend(() => {
        if (announcedOnce.delete(sequence)) return Effect.void
        announcedOnce.add(sequence)
        return announce(change)
      })

    const receive = (payload: string) =>
      Option.match(decodeNotice(payload), {
        onNone: () => Effect.logWarning("An unreadable notification came in on the change feed's channel"),
        onSome: (notice) =>
          notice.node === node ? announceOwn(notice.sequence, notice.change) : announce(notice.change)
      })

    const unheard = Latch.makeUnsafe(true)
    let reconnectAfterMs = RECONNECT_AFTER_MS_MIN
    const listening = yield* Deferred.make<void, SqlError.SqlError>()

    const forgetEverything = announce({ topic: "everything", id: "" })
    const found = Effect.suspend(() => {
      unheard.closeUnsafe()
      reconnectAfterMs = RECONNECT_AFTER_MS_MIN
      announcedOnce.clear()
      return Effect.andThen(forgetEverything, Deferred.succeed(listening, undefined))
    })
    const disconnected = Effect.suspend(() => {
      unheard.openUnsafe()
      return forgetEverything
    })
    const lost = (cause: Cause.Cause<unknown>) =>
      Effect.andThen(disconnected, Effect.logWarning("The change feed lost its connection", cause))

    const listen = Effect.gen(function* () {
      const connection = yield* PgConnection.make({
        ...config,
        applicationName: APPLICATION_NAME,
        multiplex: false
      })
      const session = yield* connection.pin
      const notifications = yield* session.listen(CHANNEL)
      yield* found
      const receiveAll = Effect.forever(Effect.flatMap(Queue.take(notifications), ({ payload }) => receive(payload)))
      // Published before the query is abandoned, which takes seconds more on a dead connection.
      const timedOut = Effect.sleep(HEARTBEAT_WAIT_MAX).pipe(
        Effect.andThen(disconnected),
        Effect.andThen(Effect.fail(silence))
      )
      const heartbeat = Effect.sleep(HEARTBEAT_EVERY).pipe(
        Effect.andThen(Effect.raceFirst(session.query("SELECT 1"), timedOut)),
        Effect.forever
      )
      return yield* Effect.raceFirst(receiveAll, heartbeat)
    }).pipe(Effect.scoped)

    const pause = Effect.gen(function* () {
      const jitter = yield* Random.nextBetween(0.5, 1)
      yield* Effect.sleep(reconnectAfterMs * jitter)
      reconnectAfterMs = Math.min(reconnectAfterMs * 2, RECONNECT_AFTER_MS_MAX)
    })

    yield* listen.pipe(
      Effect.tapErrorTag("SqlError", (error) => Deferred.fail(listening, error)),
      Effect.catchCause((cause) => (Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause) : lost(cause))),
      Effect.andThen(pause),
      Effect.forever,
      Effect.forkScoped
    )
    yield* Effect.sleep(FORGET_EVERY).pipe(
      Effect.andThen(unheard.whenOpen(forgetEverything)),
      Effect.forever,
      Effect.forkScoped
    )
    yield* Deferred.await(listening)

    const publishAll = Effect.fn("PostgresChangeFeed.publishAll")(function* (all: ReadonlyArray<Change>) {
      if (all.length === 0) return
      const numbered = all.map((change) => ({ node, sequence: ++lastSequence, change }))
      yield* sql`SELECT pg_notify(${CHANNEL}, notice) FROM unnest(${numbered.map((notice) => encodeNotice(notice))}::text[]) AS notice`
      yield* sql.afterCommit(
        Effect.forEach(numbered, ({ change, sequence }) => announceOwn(sequence, change), { discard: true })
      )
    })

    return ChangeFeed.of({
      publish: (change) => publishAll([change]),
      publishAll,
      changes: Stream.fromPubSub(changes)
    })
  })
)
