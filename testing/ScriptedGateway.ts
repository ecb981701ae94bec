/**
 * A payment processor that a test controls: it remembers its orders, and fails when told to, before or after the work
 * is done.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import {
  type CheckoutStatus,
  type PayeeStatus,
  PaymentFailed,
  PaymentGateway,
  type Refunded,
  type Transferred,
  UntrustedEvent
} from "../domain/ledger/PaymentGateway.ts"
import type { LoadId, PayoutId, WithdrawalPartId } from "../domain/shared/Ids.ts"

/** What goes wrong with an order: before or after its work, with an answer or with a crash of the process. */
export type Mishap = "before" | "after" | "refuse" | "crash_before" | "crash_after"

/** The state of the scripted processor, which a test reads and changes. */
export interface Script {
  /** What happens to the next orders of a kind, in this order. */
  readonly mishaps: {
    readonly checkout: Array<Mishap>
    readonly transfer: Array<Mishap>
    readonly lookup: Array<Mishap>
    /** Of the list of paid checkouts. */
    readonly list: Array<Mishap>
    readonly fee: Array<Mishap>
    readonly refund: Array<Mishap>
  }
  /** What the processor kept of a payment; 0 by default. */
  readonly fees: Map<string, number>
  readonly refunds: Map<WithdrawalPartId, Refunded & { readonly amountCents: number }>
  readonly checkouts: Map<string, CheckoutStatus>
  readonly loadsOfPayments: Map<string, LoadId>
  readonly transfers: Map<PayoutId, Transferred>
  readonly orders: { checkout: number; transfer: number; refund: number }
  /** How often the state of one checkout was requested. */
  lookups: number
  readonly payees: Map<string, PayeeStatus>
}

/** The orders that reached the processor, and what it does with the next ones. */
export class GatewayScript extends Context.Service<GatewayScript, Script>()(
  "agent-tool-billing/testing/GatewayScript"
) {}

export const layer: Layer.Layer<PaymentGateway | GatewayScript> = Layer.effectContext(
  Effect.sync(() => {
    const script: Script = {
      mishaps: { checkout: [], transfer: [], lookup: [], list: [], fee: [], refund: [] },
      fees: new Map(),
      refunds: new Map(),
      checkouts: new Map(),
      loadsOfPayments: new Map(),
      transfers: new Map(),
      orders: { checkout: 0, transfer: 0, refund: 0 },
      lookups: 0,
      payees: new Map()
    }

    const failing = (operation: string, definite: boolean) =>
      Effect.fail(new PaymentFailed({ operation, definite, reason: definite ? "refused by the script" : "a 500" }))

    const crash = Effect.die(new Error("The process died here"))

    const ordered = <A>(operation: string, mishaps: Array<Mishap>, work: () => A): Effect.Effect<A, PaymentFailed> =>
      Effect.suspend(() => {
        const mishap = mishaps.shift()
        if (mishap === "before") return failing(operation, false)
        if (mishap === "refuse") return failing(operation, true)
        if (mishap === "crash_before") return crash
        const done = work()
        if (mishap === "after") return failing(operation, false)
        return mishap === "crash_after" ? crash : Effect.succeed(done)
      })

    /** An order that is sent again under its id happens once; with another amount it is rejected. */
    const orderedOnce = <A extends { readonly amountCents: number }>(
      operation: "checkout" | "refund" | "transfer",
      amountCents: number,
      known: () => A | undefined,
      make: () => A
    ): Effect.Effect<A, PaymentFailed> =>
      Effect.suspend(() => {
        if ((known()?.amountCents ?? amountCents) !== amountCents) return failing(operation, true)
        return ordered(operation, script.mishaps[operation], () => {
          const before = known()
          if (before !== undefined) return before
          script.orders[operation]++
          return make()
        })
      })

    const gateway = PaymentGateway.of({
      mode: "live",
      bookMode: "test",
      book: Effect.succeed({ mode: "test", accountId: "acct_scripted" }),
      checkout: Effect.fnUntraced(function* ({ amountCents, loadId }) {
        const sessionId = `cs_${loadId}`
        const fresh = { loadId, sessionId, state: "open", amountCents, currency: "usd", paymentId: undefined } as const
        yield* orderedOnce(
          "checkout",
          amountCents,
          () => script.checkouts.get(sessionId),
          () => kept(script.checkouts, sessionId, fresh)
        )
        const expiresAt = DateTime.add(yield* DateTime.now, { days: 1 })
        return { sessionId, url: `https://pay.example/${sessionId}`, expiresAt }
      }),
      checkoutStatus: (sessionId) =>
        Effect.filterOrElse(
          ordered("checkout", script.mishaps.lookup, () => {
            script.lookups++
            return script.checkouts.get(sessionId)
          }),
          (checkout) => checkout !== undefined,
          () => failing("checkout", true)
        ),
      paidCheckouts: () =>
        ordered("checkout", script.mishaps.list, () =>
          [...script.checkouts.values()].filter(({ state }) => state === "paid")
        ),
      loadOfPayment: (paymentId) =>
        ordered("payment", script.mishaps.lookup, () => script.loadsOfPayments.get(paymentId)),
      paymentFee: (paymentId) => ordered("fee", script.mishaps.fee, () => script.fees.get(paymentId) ?? 0),
      refund: ({ amountCents, partId }) =>
        orderedOnce(
          "refund",
          amountCents,
          () => script.refunds.get(partId),
          () => kept(script.refunds, partId, { refundId: `re_${partId}`, state: "settled" as const, amountCents })
        ),
      refundOf: (partId) => ordered("refund", script.mishaps.lookup, () => script.refunds.get(partId)),
      openPayee: ({ providerId }) => Effect.succeed(`acct_${providerId}`),
      onboard: (accountId, { returnUrl }) =>
        Effect.map(DateTime.now, (now) => ({
          url: `https://onboard.example/${accountId}?then=${returnUrl}`,
          expiresAt: DateTime.add(now, { minutes: 5 })
        })),
      payee: (accountId) =>
        Effect.sync(
          () =>
            script.payees.get(accountId) ?? {
              accountId,
              status: "complete",
              chargesEnabled: false,
              payoutsEnabled: true,
              detailsSubmitted: true,
              currentlyDue: [],
              eventuallyDue: [],
              errors: []
            }
        ),
      transfer: ({ amountCents, payoutId }) =>
        orderedOnce(
          "transfer",
          amountCents,
          () => script.transfers.get(payoutId),
          () => kept(script.transfers, payoutId, { transferId: `tr_${payoutId}`, amountCents, reversedCents: 0 })
        ),
      transferOf: (payoutId) => ordered("transfer", script.mishaps.lookup, () => script.transfers.get(payoutId)),
      readEvent: () => Effect.fail(new UntrustedEvent({ reason: "the script signs nothing" }))
    })
    return Context.make(PaymentGateway, gateway).pipe(Context.add(GatewayScript, script))
  })
)

const kept = <K, V>(map: Map<K, V>, key: K, value: V): V => {
  map.set(key, value)
  return value
}
