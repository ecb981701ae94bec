/**
 * Keeps a node from spending money of another mode. Postings carry their book; calls do not, so a node checks the
 * ledger's book once, after the first hold that reserves money. A book never changes, so one check is enough.
 */
import { Context, Effect, Layer, Option } from "effect"
import { type PaymentFailed, PaymentGateway } from "./PaymentGateway.ts"
import { DRY_RUN, WrongBook } from "./Book.ts"
import { LedgerStore } from "./LedgerStore.ts"
import { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** The mode of this node. Without a gateway no money enters or leaves. */
export const ownBook = Effect.map(Effect.serviceOption(PaymentGateway), (found) => {
  const gateway = Option.getOrUndefined(found)
  return {
    mode: gateway === undefined ? DRY_RUN.mode : gateway.bookMode,
    book: gateway === undefined ? Effect.succeed(DRY_RUN) : Effect.mapError(gateway.book, unconfirmed)
  }
})

export const unconfirmed = (cause: WrongBook | PaymentFailed): StoreUnavailable =>
  new StoreUnavailable({ reason: "book_unconfirmed", cause })

export class BookGuard extends Context.Service<
  BookGuard,
  {
    /** Whether the check has passed. */
    isConfirmed(): boolean
    /** Fails while the modes differ, or this node's mode is not known yet. */
    readonly confirm: Effect.Effect<void, StoreUnavailable>
  }
>()("agent-tool-billing/domain/ledger/BookGuard") {
  static readonly layer = Layer.effect(
    BookGuard,
    Effect.gen(function* () {
      const store = yield* LedgerStore
      const own = yield* ownBook
      let confirmed = false

      // Only the mode, which a node knows without asking the processor, so no call waits for it.
      const ownMode = own.mode === undefined ? Effect.map(own.book, ({ mode }) => mode) : Effect.succeed(own.mode)

      const confirm = Effect.gen(function* () {
        const found = Option.getOrUndefined(yield* store.book)
        if (found === undefined) return
        const mode = yield* ownMode
        if (mode !== found.mode)
          return yield* unconfirmed(new WrongBook({ found, own: { mode, accountId: undefined } }))
        confirmed = true
      })

      return BookGuard.of({ isConfirmed: () => confirmed, confirm })
    })
  )
}
