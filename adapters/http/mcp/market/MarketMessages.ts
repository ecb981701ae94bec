/**
 * Messages of the market door that belong to no request: the toolbox, a tool or a price in it has changed. In the modern era
 * they are sent in `subscriptions/listen`, in the legacy era in the GET stream of a session.
 */
import { Effect } from "effect"
import { SUBSCRIPTION_META } from "../../../../domain/mcp/Protocol.ts"
import { ToolboxChanges } from "../../../../domain/mcp/ToolboxChanges.ts"
import type { Consumer, DoorAnswer, DoorRequest } from "../Door.ts"
import { invalidParams, type RpcFault } from "../RpcFault.ts"
import { isObject } from "../RpcMessage.ts"

const LIST_CHANGED = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'

export const makeMarketMessages = Effect.map(ToolboxChanges, ({ watch }) => {
  /** Until it is interrupted. */
  const changes = ({ keyId, ownerId }: Consumer, onChange: () => void): Effect.Effect<never> =>
    Effect.scoped(Effect.andThen(watch(ownerId, keyId, onChange), Effect.never))

  const subscription = (
    { caller, onMessage, rpc }: DoorRequest,
    limitMs: number
  ): Effect.Effect<DoorAnswer, RpcFault> => {
    const wanted = rpc.params?.value["notifications"]
    if (!isObject(wanted)) return Effect.fail(invalidParams("`notifications` is required, an object."))
    const isWanted = wanted["toolsListChanged"] === true
    const meta = `"_meta":{"${SUBSCRIPTION_META}":${rpc.id}}`
    const send = (method: string, members = "") =>
      onMessage(`{"jsonrpc":"2.0","method":"notifications/${method}","params":{${meta}${members}}}`)
    const listening = Effect.suspend(() => {
      send("subscriptions/acknowledged", `,"notifications":${isWanted ? '{"toolsListChanged":true}' : "{}"}`)
      return isWanted ? changes(caller, () => send("tools/list_changed")) : Effect.never
    })
    return Effect.as(Effect.timeoutOption(listening, limitMs), {
      _tag: "Result" as const,
      result: `{"resultType":"complete",${meta}}`
    })
  }

  return {
    subscription,
    listen: (caller: Consumer, send: (message: string) => void) => changes(caller, () => send(LIST_CHANGED))
  }
})
