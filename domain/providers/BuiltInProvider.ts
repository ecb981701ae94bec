/**
 * A provider whose MCP server is part of the service. It has no API key: no caller can act for it, so its earnings cannot be
 * paid out, and its tools change only with the service.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { AccountStore, type Provider } from "../accounts/Account.ts"
import { Catalog } from "../catalog/Catalog.ts"
import { ProviderId } from "../shared/Ids.ts"
import { PAGE_LIMIT_MAX } from "../shared/Page.ts"
import { type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { Handles } from "./Handles.ts"

/** The provider with the tools for trying out the service. */
export const DEMO_PROVIDER_ID = ProviderId.make("00000000-0000-4000-8000-00000000de30")

/** Its id is a constant, so that it is found again at the next start. */
export type BuiltIn = Omit<Provider, "createdAt">

export class BuiltInProvider extends Context.Service<
  BuiltInProvider,
  {
    /**
     * Registers it at the first start, under another handle if its own is taken. False: its account was erased, and
     * stays so.
     */
    register(builtIn: BuiltIn): Effect.Effect<boolean, StoreUnavailable>
    /** Withdraws its tools, if it was registered earlier. */
    withdraw(id: Provider["id"]): Effect.Effect<void, StoreUnavailable>
  }
>()("agent-tool-billing/domain/providers/BuiltInProvider") {
  static readonly layer = Layer.effect(
    BuiltInProvider,
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const catalog = yield* Catalog
      const handles = yield* Handles
      const { atomically } = yield* UnitOfWork

      const handleFor = ({ handle, id, name }: BuiltIn) =>
        handles.assign(id, handle, name).pipe(
          Effect.catchTags({
            HandleTaken: () => handles.assign(id, undefined, name),
            HandleRejected: () => handles.assign(id, undefined, name)
          }),
          // A derived handle is never rejected.
          Effect.catchTags({ HandleTaken: Effect.die, HandleRejected: Effect.die })
        )

      const register = Effect.fn("BuiltInProvider.register")(function* (builtIn: BuiltIn) {
        if (Option.isSome(yield* accounts.erasureOf(builtIn.id))) return false
        if (Option.isNone(yield* accounts.findProvider(builtIn.id))) {
          const handle = yield* handleFor(builtIn)
          yield* accounts.insertProvider({ ...builtIn, handle, createdAt: yield* DateTime.now })
        }
        return true
      }, atomically)

      const withdraw = Effect.fn("BuiltInProvider.withdraw")(function* (providerId: Provider["id"]) {
        if (Option.isNone(yield* accounts.findProvider(providerId))) return
        const page = { limit: PAGE_LIMIT_MAX, offset: 0, after: undefined }
        for (const { tool } of (yield* catalog.search({ providerId, own: true, page })).items) {
          yield* Effect.catchTag(catalog.withdraw(providerId, tool.id), "ToolNotYours", () => Effect.void)
        }
      }, atomically)

      return BuiltInProvider.of({ register, withdraw })
    })
  )
}
