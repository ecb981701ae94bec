/**
 * Limits on requests that are passed to providers' servers unbilled. The rate limit of the key counts them with all other
 * requests; here their number at a time and their bytes are limited, per account and node.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import type { ConsumerId } from "../shared/Ids.ts"
import { inSeconds, monotonicMs } from "../shared/Time.ts"
import { isTaskMethod } from "../upstream/Protocol.ts"

export const PASSED_AT_ONCE_MAX = 32
/** Requests and results, per minute. */
export const PASSED_BYTES_MAX = 128 * 1024 * 1024
const WINDOW_MS = 60_000
/** Accounts without a request in progress are forgotten at this number. */
const ACCOUNTS_MAX = 10_000

/** The account passes too much on that is not billed. */
export class PassThroughLimited extends Schema.TaggedError<PassThroughLimited>()("PassThroughLimited", {
  limit: Schema.Literals(["requests", "bytes"]),
  retryAfterSeconds: Schema.Int
}) {
  override get message() {
    const what =
      this.limit === "requests"
        ? `${PASSED_AT_ONCE_MAX} requests at a time`
        : `${PASSED_BYTES_MAX / 1024 / 1024} MiB of requests and results a minute`
    return `At most ${what} are passed to providers' servers per account. Retry after ${inSeconds(this.retryAfterSeconds)}.`
  }
}

interface Passing {
  atOnce: number
  bytes: number
  sinceMs: number
}

export class PassThrough extends Context.Service<
  PassThrough,
  {
    /** `bytesOf`: what the result adds to the request's own bytes. */
    limit<A, E>(
      consumerId: ConsumerId,
      requestBytes: number,
      work: Effect.Effect<A, E>,
      bytesOf: (result: A) => number
    ): Effect.Effect<A, E | PassThroughLimited>
  }
>()("agent-tool-billing/domain/mcp/PassThrough") {
  static readonly layer = Layer.effect(
    PassThrough,
    Effect.map(Clock.Clock, (clock) => {
      const accounts = new Map<ConsumerId, Passing>()

      const passingOf = (consumerId: ConsumerId): Passing => {
        const nowMs = monotonicMs(clock)
        const known = accounts.get(consumerId)
        if (known === undefined) {
          if (accounts.size >= ACCOUNTS_MAX) forgetIdle(accounts)
          const passing = { atOnce: 0, bytes: 0, sinceMs: nowMs }
          accounts.set(consumerId, passing)
          return passing
        }
        if (nowMs - known.sinceMs >= WINDOW_MS) {
          known.bytes = 0
          known.sinceMs = nowMs
        }
        return known
      }

      const rejection = ({ atOnce, bytes, sinceMs }: Passing): PassThroughLimited | undefined => {
        if (atOnce >= PASSED_AT_ONCE_MAX) return new PassThroughLimited({ limit: "requests", retryAfterSeconds: 1 })
        if (bytes < PASSED_BYTES_MAX) return undefined
        const leftMs = sinceMs + WINDOW_MS - monotonicMs(clock)
        return new PassThroughLimited({ limit: "bytes", retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1_000)) })
      }

      return PassThrough.of({
        limit: <A, E>(
          consumerId: ConsumerId,
          requestBytes: number,
          work: Effect.Effect<A, E>,
          bytesOf: (result: A) => number
        ) =>
          Effect.suspend((): Effect.Effect<A, E | PassThroughLimited> => {
            const passing = passingOf(consumerId)
            const rejected = rejection(passing)
            if (rejected !== undefined) return Effect.fail(rejected)
            passing.atOnce++
            passing.bytes += requestBytes
            return work.pipe(
              Effect.tap((result) =>
                Effect.sync(() => {
                  passing.bytes += bytesOf(result)
                })
              ),
              Effect.ensuring(
                Effect.sync(() => {
                  passing.atOnce--
                })
              )
            )
          })
      })
    })
  )
}

const forgetIdle = (accounts: Map<ConsumerId, Passing>): void => {
  for (const [id, { atOnce }] of accounts) if (atOnce === 0) accounts.delete(id)
}

// Some requests are never passed to a provider's server as they are: calls of tools are billed, a session begins by its
// own operation, a request that is named like a notification could cancel the calls of others, and results of tasks are
// billed. Some servers do not distinguish upper and lower case, or ignore other characters of a method.

export const isNeverPassed = (method: string): boolean =>
  !NAME.test(method) || isTaskMethod(method) || isOfTheService(lettersOf(method))

/** The service's own requests about the task of a call. Doors answer those of clients. */
export const isOfTask = (method: string): boolean => OF_TASK.has(method)

const OF_TASK: ReadonlySet<string> = new Set(["tasks/get", "tasks/result", "tasks/update", "tasks/cancel"])

/** Segments of a path: `x/../tools/call` could be read as another method. */
const NAME = /^(?!notifications\/)[a-z_$][\w$.-]*(?:\/[\w$-][\w$.-]*)*$/iu

const isOfTheService = (letters: string): boolean => letters === "initialize" || letters.endsWith("toolscall")

const lettersOf = (method: string): string => method.toLowerCase().replaceAll(/[^a-z]/gu, "")
