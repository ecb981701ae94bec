/**
 * Limits what runs at once: in total, of one consumer, and at one provider's endpoint. Passed requests are free of charge, so
 * a consumer could otherwise take the sockets that paid calls need.
 */
import { Deferred, Effect } from "effect"
import type { Answered } from "./LinkRepair.ts"
import type { McpClient } from "./McpClient.ts"
import type { ProviderEndpoint } from "./ProviderEndpoint.ts"
import { fault } from "./Reply.ts"

interface SharesMax {
  readonly total: number
  readonly perConsumer: number
  readonly perEndpoint: number
}

export class Shares {
  private readonly max: SharesMax
  private total = 0
  private readonly consumers = new Map<string, number>()
  private readonly endpoints = new Map<ProviderEndpoint, number>()

  constructor(max: SharesMax) {
    this.max = max
  }

  /** Runs `effect`, or `refused` if there is no room for it. */
  within<A, E>(
    consumer: string,
    endpoint: ProviderEndpoint,
    effect: Effect.Effect<A, E>,
    refused: (by: "consumer" | "provider") => Effect.Effect<A, E>
  ): Effect.Effect<A, E> {
    return Effect.suspend(() => {
      const ofConsumer = this.consumers.get(consumer) ?? 0
      const ofEndpoint = this.endpoints.get(endpoint) ?? 0
      if (ofConsumer >= this.max.perConsumer) return refused("consumer")
      if (ofEndpoint >= this.max.perEndpoint || this.total >= this.max.total) return refused("provider")
      this.total++
      this.consumers.set(consumer, ofConsumer + 1)
      this.endpoints.set(endpoint, ofEndpoint + 1)
      return Effect.onExit(effect, () =>
        Effect.sync(() => {
          this.total--
          lower(this.consumers, consumer)
          lower(this.endpoints, endpoint)
        })
      )
    })
  }
}

const lower = <Key>(counts: Map<Key, number>, key: Key): void => {
  const left = (counts.get(key) ?? 1) - 1
  if (left === 0) counts.delete(key)
  else counts.set(key, left)
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
