/**
 * `notifications/tools/list_changed` of this service: in the modern era in `subscriptions/listen`, in the legacy era in the GET
 * stream of a session.
 */
import { Effect } from "effect"
import { SUBSCRIPTION_META } from "../../../domain/upstream/Protocol.ts"
import type { DoorAnswer, DoorFailure, DoorRequest } from "./Door.ts"
import { invalidParams } from "./RpcFault.ts"
import { isObject, type RpcRequest } from "./RpcMessage.ts"

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
