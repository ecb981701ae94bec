/**
 * A worker of a node, on its connection to the supervisor in `Workers.ts`: what it is told at its start, what it counts
 * together with the other workers, and the metrics of all.
 */
import { Duration, Effect, Layer, Redacted } from "effect"
import type { Reading } from "../../adapters/http/pipeline/MetricSum.ts"
import type { OtherWorkers } from "../config/ServiceOptions.ts"
import { EarlyPostgres } from "./EarlyPostgres.ts"

/** The variable of a worker's environment with its `Duty`. */
export const DUTY = "AGENT_TOOL_BILLING_DUTY"

type Database = Record<"url" | "ownerUrl" | "logFile", string> & { readonly port: number; readonly adopted: boolean }

export interface Duty {
  readonly workers: number
  /** Its place among them, from 0; it is that of the worker that it replaces. */
  readonly place: number
  /** Undefined for the first worker, which finds a free one for PORT=0. */
  readonly port: number | undefined
  /** The embedded PostgreSQL, which runs under the supervisor. */
  readonly database: Database | undefined
}

/** With the `id` of its answer. */
export type Ask =
  | {
      readonly id: number
      readonly bucket: {
        readonly key: string
        readonly limit: number
        readonly tokens: number
        readonly allowOverflow: boolean
      }
      readonly refillMs: number
    }
  | { readonly id: number; readonly sum: Reading }

export type Answer = readonly [id: number, value: unknown]

export type FromWorker =
  | { readonly ready: { readonly port: number; readonly welcome: string } }
  | { readonly asks: ReadonlyArray<Ask> }
  | { readonly reading: Reading }

export type ToWorker =
  | { readonly answers: ReadonlyArray<Answer> }
  | { readonly read: true }
  /** Another worker has taken its place. */
  | { readonly retire: true }

export interface WorkerLink {
  readonly duty: Duty
  readonly isReplaced: () => boolean
  readonly ready: (port: number, welcome: string) => Effect.Effect<void>
  readonly others: OtherWorkers
  /** The embedded PostgreSQL, if there is one. */
  readonly postgres: Layer.Layer<never>
}

const LAST_READING_WAIT_MAX = "1 second"

/** The link of this process, if it is a worker. When its scope closes, the service has ended: what it counted is handed over. */
export const workerLink = Effect.fnUntraced(function* (environment: Readonly<Record<string, string | undefined>>) {
  const given = environment[DUTY]
  if (given === undefined) return undefined
  const duty = JSON.parse(given) as Duty
  const context = yield* Effect.context<never>()
  const answers = new Map<number, (value: unknown) => void>()
  let lastId = 0
  let asks: Array<Ask> = []
  let isReplaced = false
  let read: Effect.Effect<Reading> | undefined

  /** Without its supervisor a worker ends, so a message that is not sent has no reader. */
  const send = (message: FromWorker) =>
    Effect.callback<void>((resume) => void process.send!(message, undefined, undefined, () => resume(Effect.void)))

  /** All of one turn of the event loop are one message. */
  const ask = <A>(askOf: (id: number) => Ask): Effect.Effect<A> =>
    Effect.callback<A>((resume) => {
      const id = ++lastId
      answers.set(id, (value) => resume(Effect.succeed(value as A)))
      if (asks.push(askOf(id)) > 1) return
      setImmediate(() => {
        Effect.runForkWith(context)(send({ asks }))
        asks = []
      })
    })

  const hear = (message: ToWorker): void => {
    if ("answers" in message) {
      for (const [id, value] of message.answers) {
        answers.get(id)?.(value)
        answers.delete(id)
      }
    } else if ("read" in message) {
      if (read !== undefined) Effect.runForkWith(context)(Effect.flatMap(read, (reading) => send({ reading })))
    } else {
      isReplaced = true
      process.kill(process.pid, "SIGTERM")
    }
  }
  process.on("message", hear)
  // For the supervisor, where it is sent to all processes of a unit or group.
  process.on("SIGUSR2", () => {})

  yield* Effect.addFinalizer(() =>
    read === undefined
      ? Effect.void
      : Effect.timeoutOption(
          Effect.flatMap(read, (reading) => send({ reading })),
          LAST_READING_WAIT_MAX
        )
  )

  const postgresOf = ({ ownerUrl, url, ...server }: Database) =>
    Layer.succeed(
      EarlyPostgres,
      Effect.succeed({ ...server, url: Redacted.make(url), ownerUrl: Redacted.make(ownerUrl), failed: Effect.never })
    )
  const link: WorkerLink = {
    duty,
    isReplaced: () => isReplaced,
    ready: (port, welcome) => send({ ready: { port, welcome } }),
    postgres: duty.database === undefined ? Layer.empty : postgresOf(duty.database),
    others: {
      tokenBucket: ({ refillRate, ...bucket }) =>
        ask((id) => ({ id, bucket, refillMs: Duration.toMillis(refillRate) })),
      metrics: (own) => {
        read = own
        return (reading) => ask((id) => ({ id, sum: reading }))
      }
    }
  }
  return link
})
