/**
 * Ends a stream whose server sends more messages in a minute than a client may receive.
 */
import { Deferred, Effect } from "effect"
import type { McpClient } from "./McpClient.ts"
import { fault } from "./Reply.ts"
import type { Answered } from "./SharedLink.ts"

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
