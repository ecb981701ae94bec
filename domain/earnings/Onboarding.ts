/**
 * `Payouts.connect` and the account of a payee: how a provider gets ready for payouts: an account at the processor, the processor's pages to complete it, and a copy
 * of its state.
 */
import { DateTime, Effect, Option } from "effect"
import { AccountStore } from "../accounts/AccountStore.ts"
import { type OnboardingLink, PaymentGateway, PaymentsNotConfigured } from "../ledger/PaymentGateway.ts"
import type { ProviderId } from "../shared/Ids.ts"
import { type Payee, PayeeStore } from "./PayeeStore.ts"

/** A provider's account at the processor, with the page to complete it. */
export interface Connected extends OnboardingLink {
  readonly accountId: string
}

export const makeOnboarding = Effect.gen(function* () {
  const store = yield* PayeeStore
  const accounts = yield* AccountStore
  const gateway = yield* PaymentGateway

  const look = Effect.fnUntraced(function* (providerId: ProviderId, accountId: string) {
    const status = yield* gateway.payee(accountId)
    yield* store.putStatus(providerId, status, yield* DateTime.now)
    return status
  })

  const accountOf = (payee: Option.Option<Payee>): string | undefined => Option.getOrUndefined(payee)?.status?.accountId

  const connect = Effect.fn("Payouts.connect")(function* (
    providerId: ProviderId,
    urls: { readonly returnUrl: string; readonly refreshUrl: string }
  ) {
    if (gateway.mode !== "live") return yield* new PaymentsNotConfigured({ what: "payouts are simulated" })
    const provider = Option.getOrThrow(yield* accounts.findProvider(providerId))
    const known = accountOf(yield* store.find(providerId))
    const accountId = known ?? (yield* gateway.openPayee({ providerId, name: provider.name, email: provider.email }))
    if (known === undefined) yield* look(providerId, accountId)
    return { accountId, ...(yield* gateway.onboard(accountId, urls)) }
  })

  const accountStatus = Effect.fn("Payouts.accountStatus")(function* (providerId: ProviderId) {
    const payee = yield* store.find(providerId)
    const seen = Option.getOrUndefined(payee)?.status
    if (seen === undefined || gateway.mode !== "live") return Option.fromNullishOr(seen)
    return yield* look(providerId, seen.accountId).pipe(
      Effect.catchTag("PaymentFailed", (error) => Effect.as(Effect.logWarning(error.message), seen)),
      Effect.map(Option.some)
    )
  })

  const refreshAccount = Effect.fn("Payouts.refreshAccount")(function* (accountId: string) {
    const payee = yield* store.findByAccount(accountId)
    if (Option.isSome(payee)) yield* look(payee.value.providerId, accountId)
  })

  const setAutomatic = Effect.fn("Payouts.setAutomatic")(function* (providerId: ProviderId, automatic: boolean) {
    yield* store.putAutomatic(providerId, automatic, yield* DateTime.now)
  })

  return { connect, accountStatus, refreshAccount, payee: store.find, setAutomatic }
})
