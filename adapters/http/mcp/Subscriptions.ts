/**
 * `subscriptions/listen`: a stream that stays open until the client, the provider's server or this service ends it.
 */
import { Duration, Effect, Schedule } from "effect"
import { isObject, memberOf, objectWith } from "../../../domain/shared/JsonText.ts"
import { SUBSCRIPTION_META } from "../../../domain/upstream/Protocol.ts"
import { OpenStreams, RECONNECT_AFTER_MS } from "../pipeline/WebRequest.ts"
import type { DoorFailure, DoorRequest } from "./Door.ts"
import { type DoorAnswer, invalidParams, invalidRequest, lastMessage, limited, type RpcRequest } from "./RpcMessages.ts"

// Announcements of servers and of this service.

/** This service announces changes of the list, and of prices, whatever the server does. */
export const announcingTools = (capabilities: string): string => {
  const tools = memberOf(capabilities, 0, "tools")
  return tools === undefined || memberOf(tools, 0, "listChanged") === "true"
    ? capabilities
    : objectWith(capabilities, "tools", objectWith(tools, "listChanged", "true"))
}

export const announcedBy = (capabilities: string): ReadonlyArray<string> =>
  ANNOUNCED.flatMap(([feature, member, name]) => {
    const declared = memberOf(capabilities, 0, feature)
    return declared !== undefined && memberOf(declared, 0, member) === "true" ? [name] : []
  })

/** Capabilities of a server that announces all of it. */
export const ANNOUNCES_ALL =
  '{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true}}'

const ANNOUNCED = [
  ["tools", "listChanged", "toolsListChanged"],
  ["prompts", "listChanged", "promptsListChanged"],
  ["resources", "listChanged", "resourcesListChanged"],
  ["resources", "subscribe", "resourceSubscriptions"]
] as const

const PLAIN = ["tools", "resources", "prompts", "completions"] as const

/**
 * The capabilities where only one of client and server has a session. Features that need messages of the server outside
 * of a request's own stream are not offered.
 */
export const plainCapabilities = (capabilities: string): string => {
  const declared = JSON.parse(capabilities) as Readonly<Record<string, unknown>>
  return JSON.stringify(Object.fromEntries(PLAIN.filter((name) => name in declared).map((name) => [name, {}])))
}

// `notifications/tools/list_changed` of this service: in `subscriptions/listen`, or in the GET stream of a session.

export const LIST_CHANGED = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'

/** Calls `onChange` at each change of the list, until it is interrupted. */
export type ListChanges = (onChange: () => void) => Effect.Effect<never>

/**
 * Acknowledged at once. Changes of the list of tools are those of this service; `more` is what the provider's server announces
 * besides, and `follow` subscribes to it there, as often as that is necessary.
 */
export const subscription = (
  { onMessage, rpc }: DoorRequest,
  limitMs: number,
  changes: ListChanges,
  more: ReadonlyArray<string> = [],
  follow: (onMessage: (message: string) => void) => Effect.Effect<unknown> = () => Effect.never
): Effect.Effect<DoorAnswer, DoorFailure> => {
  const wanted = rpc.params?.value["notifications"]
  if (!isObject(wanted)) return Effect.fail(invalidParams("`notifications` is required, an object."))
  const meta = metaOf(rpc)
  const granted = Object.entries(wanted).filter(
    ([name, value]) => [TOOLS, ...more].includes(name) && (value === true || isListOfTexts(value))
  )
  const send = (method: string, params = "") =>
    onMessage(`{"jsonrpc":"2.0","method":"notifications/${method}","params":{${meta}${params}}}`)
  const listening = Effect.suspend(() => {
    send("subscriptions/acknowledged", `,"notifications":${JSON.stringify(Object.fromEntries(granted))}`)
    let begun = 0
    const followed = follow((message) => {
      if (!isAcknowledgment(message)) return onMessage(message)
      // What the server announced between two subscriptions is not known.
      if (begun++ === 0) return
      for (const [name, value] of granted) {
        if (name === "promptsListChanged") send("prompts/list_changed")
        if (name === "resourcesListChanged") send("resources/list_changed")
        if (Array.isArray(value)) for (const uri of value) send("resources/updated", `,"uri":${JSON.stringify(uri)}`)
      }
    })
    const own = wanted[TOOLS] === true ? changes(() => send("tools/list_changed")) : Effect.never
    return Effect.raceFirst(own, Effect.andThen(followed, Effect.never))
  })
  return Effect.as(Effect.timeoutOption(listening, limitMs), {
    _tag: "Result" as const,
    result: `{"resultType":"complete",${meta}}`
  })
}

const TOOLS = "toolsListChanged"

const isListOfTexts = (value: unknown): boolean => Array.isArray(value) && value.every((one) => typeof one === "string")

const metaOf = ({ id }: RpcRequest): string => `"_meta":{"${SUBSCRIPTION_META}":${id}}`

const isAcknowledgment = (message: string): boolean =>
  (JSON.parse(message) as { readonly method?: unknown }).method === "notifications/subscriptions/acknowledged"

/** A client opens another stream then. */
const STREAM_MS_MAX = Duration.toMillis(Duration.hours(1))
/** Shorter than what proxies and servers wait for. */
const KEEP_ALIVE_EVERY = Duration.seconds(15)

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
      .pipe(Effect.catchTag("TooManyStreams", limited))
  })
})

/** The graceful end of a subscription. */
export const ended = (id: string): string => `{"resultType":"complete","_meta":{"${SUBSCRIPTION_META}":${id}}}`
