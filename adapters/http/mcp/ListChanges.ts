/**
 * `notifications/tools/list_changed` of this service: in the modern era in `subscriptions/listen`, in the legacy era in the GET
 * stream of a session.
 */
import { Deferred, Effect } from "effect"
import { SUBSCRIPTION_META } from "../../../domain/mcp/Protocol.ts"
import { memberOf, objectWith } from "../../../domain/shared/JsonText.ts"
import type { DoorAnswer, DoorFailure, DoorRequest } from "./Door.ts"
import { invalidParams } from "./RpcFault.ts"
import { isObject, type RpcRequest } from "./RpcMessage.ts"

export const LIST_CHANGED = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'

const ACKNOWLEDGED = "notifications/subscriptions/acknowledged"

/** Calls `onChange` at each change of the list, until it is interrupted. */
export type ListChanges = (onChange: () => void) => Effect.Effect<never>

/** Without a server: it announces only changes of the list of tools. */
export const ownSubscription = (
  { onMessage, rpc }: DoorRequest,
  limitMs: number,
  changes: ListChanges
): Effect.Effect<DoorAnswer, DoorFailure> => {
  const wanted = wantedBy(rpc)
  if (wanted === undefined) return Effect.fail(invalidParams("`notifications` is required, an object."))
  const meta = metaOf(rpc)
  const acknowledged = wanted.tools ? '{"toolsListChanged":true}' : "{}"
  const listening = Effect.suspend(() => {
    onMessage(`{"jsonrpc":"2.0","method":"${ACKNOWLEDGED}","params":{${meta},"notifications":${acknowledged}}}`)
    return wanted.tools ? changes(() => onMessage(listChanged(rpc))) : Effect.never
  })
  return Effect.as(Effect.timeoutOption(listening, limitMs), {
    _tag: "Result" as const,
    result: `{"resultType":"complete",${meta}}`
  })
}

/** Adds the changes of this service to the subscription that the provider's server offers, once that is acknowledged. */
export const sharedSubscription = (
  request: DoorRequest,
  changes: ListChanges,
  ask: (request: DoorRequest) => Effect.Effect<DoorAnswer, DoorFailure>
): Effect.Effect<DoorAnswer, DoorFailure> => {
  const { onMessage, rpc } = request
  if (wantedBy(rpc)?.tools !== true) return ask(request)
  return Effect.gen(function* () {
    const acknowledged = yield* Deferred.make<void>()
    const asked = ask({
      ...request,
      onMessage: (message) => {
        const isFirst = !Deferred.isDoneUnsafe(acknowledged) && isAcknowledgment(message)
        onMessage(isFirst ? withTools(message) : message)
        if (isFirst) Deferred.doneUnsafe(acknowledged, Effect.void)
      }
    })
    const own = Effect.andThen(
      Deferred.await(acknowledged),
      changes(() => onMessage(listChanged(rpc)))
    )
    return yield* Effect.raceFirst(asked, own)
  })
}

/** Undefined if the request is malformed. */
const wantedBy = ({ params }: RpcRequest): { readonly tools: boolean } | undefined => {
  const wanted = params?.value["notifications"]
  return isObject(wanted) ? { tools: wanted["toolsListChanged"] === true } : undefined
}

const metaOf = ({ id }: RpcRequest): string => `"_meta":{"${SUBSCRIPTION_META}":${id}}`

const listChanged = (rpc: RpcRequest): string =>
  `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{${metaOf(rpc)}}}`

const isAcknowledgment = (message: string): boolean =>
  (JSON.parse(message) as { readonly method?: unknown }).method === ACKNOWLEDGED

/** The server itself may not announce changes of its tools. */
const withTools = (message: string): string => {
  const params = memberOf(message, 0, "params") ?? "{}"
  const granted = memberOf(params, 0, "notifications") ?? "{}"
  const all = objectWith(granted, "toolsListChanged", "true")
  return objectWith(message, "params", objectWith(params, "notifications", all))
}
