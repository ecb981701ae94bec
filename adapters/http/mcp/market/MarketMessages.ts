/**
 * Messages of the market door that belong to no request: the toolbox, a tool or a price in it has changed. In the modern era
 * they are sent in `subscriptions/listen`, in the legacy era in the GET stream of a session.
 */
import { Effect } from "effect"
import { ToolboxChanges } from "../../../../domain/mcp/ToolboxChanges.ts"
import type { Consumer, DoorRequest } from "../Door.ts"
import { LIST_CHANGED, subscription } from "../ListChanges.ts"

export const makeMarketMessages = Effect.map(ToolboxChanges, ({ watch }) => {
  /** Until it is interrupted. */
  const changes = ({ keyId, ownerId }: Consumer, onChange: () => void): Effect.Effect<never> =>
    Effect.scoped(Effect.andThen(watch(ownerId, keyId, onChange), Effect.never))

  return {
    subscription: (request: DoorRequest, limitMs: number) =>
      subscription(request, limitMs, (onChange) => changes(request.caller, onChange)),
    listen: (caller: Consumer, send: (message: string) => void) => changes(caller, () => send(LIST_CHANGED))
  }
})
