/**
 * Keeps a node from spending money of another mode. Postings name their book themselves; calls do not, so a node asks once,
 * after the first hold that reserves money, whose money the ledger holds. A book never changes: one answer is enough.
 */
import { Context, Effect, Layer, Option } from "effect"
import { PaymentGateway } from "../payments/PaymentGateway.ts"
import { DRY_RUN, WrongBook } from "./Book.ts"
import { LedgerStore } from "./LedgerStore.ts"

/** Of this node. Without a gateway no money comes from outside or goes there. */
export const ownBook = Effect.map(Effect.serviceOption(PaymentGateway), (found) => {
  const gateway = Option.getOrUndefined(found)
  return {
    mode: gateway === undefined ? DRY_RUN.mode : gateway.bookMode,
    book: gateway === undefined ? Effect.succeed(DRY_RUN) : gateway.book
  }
})

export class BookGuard extends Context.Service<
  BookGuard,
  {
    /** Whether the book is known to be this node's own. */
    isConfirmed(): boolean
    /** Dies of `WrongBook` where it is not. */
    readonly confirm: Effect.Effect<void>
  }
>()("agent-tool-billing/domain/ledger/BookGuard") {
  static readonly layer = Layer.effect(
    BookGuard,
    Effect.gen(function* () {
      const store = yield* LedgerStore
      const own = yield* ownBook
      let confirmed = false

      // The mode alone, which a node knows without asking the processor: no call waits for it.
      const ownMode =
        own.mode === undefined ? Effect.map(Effect.orDie(own.book), ({ mode }) => mode) : Effect.succeed(own.mode)

      const confirm = Effect.gen(function* () {
        const found = Option.getOrUndefined(yield* store.book)
        if (found === undefined) return
        const mode = yield* ownMode
        if (mode !== found.mode) return yield* Effect.die(new WrongBook({ found, own: { mode, accountId: undefined } }))
        confirmed = true
      })

      return BookGuard.of({ isConfirmed: () => confirmed, confirm })
    })
  )
}
