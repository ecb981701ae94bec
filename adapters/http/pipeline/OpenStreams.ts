/**
 * Responses that stay open until the client or the service ends them. Counted per account, and ended when the service stops.
 */
import { Context, Deferred, Effect, Layer, Schema } from "effect"
import { inSeconds } from "../../../domain/shared/Time.ts"

/** A node that is about to stop. It still answers, but a load balancer sends new requests elsewhere. */
export class Draining extends Context.Service<
  Draining,
  {
    readonly begin: Effect.Effect<void>
    readonly isBegun: Effect.Effect<boolean>
  }
>()("agent-tool-billing/adapters/http/Draining") {
  static readonly layer = Layer.sync(Draining, () => {
    let isBegun = false
    return Draining.of({
      begin: Effect.sync(() => void (isBegun = true)),
      isBegun: Effect.sync(() => isBegun)
    })
  })
}

/** Per account and node. */
export const STREAMS_PER_ACCOUNT_MAX = 32
const RETRY_AFTER_SECONDS = 10
/** The last event of a stream that ends with the service: another node takes the client then, or this one after its restart. */
export const RECONNECT_AFTER_MS = 1_000

export class TooManyStreams extends Schema.TaggedError<TooManyStreams>()("TooManyStreams", {
  max: Schema.Int,
  retryAfterSeconds: Schema.Int
}) {
  override get message() {
    return `Too many open streams: this account has ${this.max}, the maximum. Close one, or retry after ${inSeconds(this.retryAfterSeconds)}.`
  }
}

export class OpenStreams extends Context.Service<
  OpenStreams,
  {
    /** Runs the stream of an account until it ends, or until the service stops: then `atStop` ends it. */
    keep<A, E>(
      owner: string,
      stream: Effect.Effect<A, E>,
      atStop: Effect.Effect<A>
    ): Effect.Effect<A, E | TooManyStreams>
    /** For shutdown. Streams that are opened later end at once. */
    readonly endAll: Effect.Effect<void>
  }
>()("agent-tool-billing/adapters/http/OpenStreams") {
  static readonly layer = Layer.effect(
    OpenStreams,
    Effect.gen(function* () {
      const stopped = yield* Deferred.make<void>()
      const counts = new Map<string, number>()
      const endAll = Effect.asVoid(Deferred.succeed(stopped, undefined))
      yield* Effect.addFinalizer(() => endAll)

      const release = (owner: string): void => {
        const left = (counts.get(owner) ?? 1) - 1
        if (left === 0) counts.delete(owner)
        else counts.set(owner, left)
      }

      return OpenStreams.of({
        keep: <A, E>(owner: string, stream: Effect.Effect<A, E>, atStop: Effect.Effect<A>) =>
          Effect.suspend((): Effect.Effect<A, E | TooManyStreams> => {
            const count = counts.get(owner) ?? 0
            if (count >= STREAMS_PER_ACCOUNT_MAX) {
              return Effect.fail(
                new TooManyStreams({ max: STREAMS_PER_ACCOUNT_MAX, retryAfterSeconds: RETRY_AFTER_SECONDS })
              )
            }
            counts.set(owner, count + 1)
            return Effect.raceFirst(stream, Effect.andThen(Deferred.await(stopped), atStop)).pipe(
              Effect.ensuring(Effect.sync(() => release(owner)))
            )
          }),
        endAll
      })
    })
  )
}
