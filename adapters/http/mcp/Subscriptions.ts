/**
 * `subscriptions/listen`: a stream that stays open until the client, the provider's server or this service ends it.
 */
import { Duration, Effect, Schedule } from "effect"
import { OpenStreams, RECONNECT_AFTER_MS } from "../pipeline/WebRequest.ts"
import type { DoorAnswer, DoorFailure, DoorRequest } from "./Door.ts"
import { invalidRequest, limited } from "./RpcFault.ts"
import { lastMessage } from "./RpcReply.ts"

/** A client opens another stream then. */
const STREAM_MS_MAX = Duration.toMillis(Duration.hours(1))
/** Shorter than what proxies and servers wait for. */
export const KEEP_ALIVE_EVERY = Duration.seconds(15)

export const makeSubscriptions = Effect.gen(function* () {
  const streams = yield* OpenStreams

  return Effect.fnUntraced(function* (
    request: DoorRequest,
    listen: (limitMs: number) => Effect.Effect<DoorAnswer, DoorFailure>
  ): Effect.fn.Return<DoorAnswer, DoorFailure> {
    const { caller, clock, input, rpc } = request
    if (input.startEvents === undefined) {
      return yield* invalidRequest(
        "`subscriptions/listen` needs the header `Accept: application/json, text/event-stream`."
      )
    }
    const send = input.startEvents(lastMessage(rpc.id))
    const alive = Effect.repeat(
      Effect.sync(() => send({})),
      Schedule.spaced(KEEP_ALIVE_EVERY)
    )
    clock.pause()
    return yield* streams
      .keep(
        caller.ownerId,
        Effect.raceFirst(listen(STREAM_MS_MAX), Effect.andThen(Effect.delay(alive, KEEP_ALIVE_EVERY), Effect.never)),
        Effect.sync((): DoorAnswer => {
          send({ retryMs: RECONNECT_AFTER_MS })
          return { _tag: "Result", result: ended(rpc.id) }
        })
      )
      .pipe(
        Effect.catchTag("TooManyStreams", ({ message, retryAfterSeconds }) =>
          Effect.fail(limited(message, retryAfterSeconds))
        )
      )
  })
})

/** The graceful end of a subscription. */
export const ended = (id: string): string =>
  `{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":${id}}}`
