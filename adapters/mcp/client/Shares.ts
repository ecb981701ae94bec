/**
 * Limits what runs at once: in total, of one consumer, and at one provider's endpoint. Passed requests are free of charge, so
 * a consumer could otherwise take the sockets that paid calls need.
 */
import { Deferred, Effect } from "effect"
import type { ServerFailed } from "../../../domain/upstream/ProviderServers.ts"
import { fault } from "./HttpExchange.ts"
import type { Answered } from "./LinkRepair.ts"
import type { McpClient } from "./McpClient.ts"
import type { ProviderEndpoint } from "./ProviderEndpoint.ts"
import { refusal } from "./UpstreamOutcome.ts"

interface SharesMax {
  readonly total: number
  readonly perConsumer: number
  readonly perEndpoint: number
}

export class Shares {
  private readonly max: SharesMax
  /** Running requests of a consumer, at an endpoint, and, under the shares themselves, in all. */
  private readonly counts = new Map<object | string, number>()

  constructor(max: SharesMax) {
    this.max = max
  }

  /** Fails if there is no room for the effect. */
  within<A, E>(
    consumer: string,
    endpoint: ProviderEndpoint,
    effect: Effect.Effect<A, E>
  ): Effect.Effect<A, E | ServerFailed> {
    return Effect.suspend((): Effect.Effect<A, E | ServerFailed> => {
      const { perConsumer, perEndpoint, total } = this.max
      if (this.countOf(consumer) >= perConsumer) return Effect.fail(refusal("consumer"))
      if (this.countOf(endpoint) >= perEndpoint || this.countOf(this) >= total) return Effect.fail(refusal("provider"))
      const parties = [consumer, endpoint, this]
      const count = (by: number) => {
        for (const party of parties) {
          const left = this.countOf(party) + by
          if (left === 0) this.counts.delete(party)
          else this.counts.set(party, left)
        }
      }
      count(1)
      return Effect.onExit(effect, () => Effect.sync(() => count(-1)))
    })
  }

  private countOf(party: object | string): number {
    return this.counts.get(party) ?? 0
  }
}

// Ends a stream whose server sends more messages in a minute than a client may receive.

const MINUTE_MS = 60_000

/** `listen` passes each message to its argument, which runs the action if there is room for it. */
export const withinRate = (
  { nowMs, options }: McpClient,
  listen: (onEach: (action: () => void) => void) => Effect.Effect<Answered>
): Effect.Effect<Answered> =>
  Effect.suspend(() => {
    const flooded = Deferred.makeUnsafe<Answered>()
    let minuteFromMs = nowMs()
    let count = 0
    const onEach = (action: () => void) => {
      const atMs = nowMs()
      if (atMs - minuteFromMs >= MINUTE_MS) {
        minuteFromMs = atMs
        count = 0
      }
      if (++count <= options.listenMessagesPerMinuteMax) action()
      else Deferred.doneUnsafe(flooded, Effect.succeed({ link: undefined, reply: tooManyMessages }))
    }
    return Effect.raceFirst(listen(onEach), Deferred.await(flooded))
  })

const tooManyMessages = fault("overloaded", "The provider sends too many messages")
