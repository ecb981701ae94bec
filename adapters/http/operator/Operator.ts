/**
 * Solvency, platform funds, reserves, platform fees, the operator's session and the audit trail over HTTP.
 */
import { Effect, Option } from "effect"
import { ProviderMoney } from "../../../domain/earnings/Earnings.ts"
import { actorOf, type OperatorSession, type Principal } from "../../../domain/accounts/Authentication.ts"
import { AccountStore } from "../../../domain/accounts/Account.ts"
import { PayoutRetries } from "../../../domain/earnings/Payouts.ts"
import { PlatformFunds } from "../../../domain/ledger/PlatformFunds.ts"
import { UnknownProvider } from "../../../domain/metering/Grants.ts"
import { type AuditEntry, AuditTrail } from "../../../domain/operator/AuditTrail.ts"
import { OperatorSessions } from "../../../domain/operator/OperatorSessions.ts"
import { AccountFreezes } from "../../../domain/payments/AccountFreezes.ts"
import { Handles } from "../../../domain/providers/Handles.ts"
import { type FeeInEffect, PlatformFees } from "../../../domain/providers/PlatformFees.ts"
import { ProviderFreezes } from "../../../domain/providers/ProviderFreezes.ts"
import type { ProviderId } from "../../../domain/shared/Ids.ts"
import { fromCents } from "../../../domain/shared/Microcents.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { accountProblems } from "../accounts/Accounts.ts"
import { feeChangesView, feeView } from "../catalog/ToolViews.ts"
import { BaseUrl } from "../contract/BaseUrl.ts"
import { payoutProblems } from "../earnings/Payouts.ts"
import { pageFields, pageRequest } from "../pipeline/Decoding.ts"
import { NotFound, NotFromOwnPage } from "../pipeline/Failures.ts"
import { duplicate, invalidField, type ProblemsOf } from "../pipeline/Problems.ts"
import { replyRoute, route as plainRoute, routesWith } from "../pipeline/Route.ts"
import { fieldsOf } from "../pipeline/Views.ts"
import { endedCookie, header, isFromOwnPage, sessionCookie } from "../pipeline/WebRequest.ts"
import { solvencyReport } from "../platform/Platform.ts"
import { OperatorApi, OperatorSessionApi } from "./OperatorApi.ts"

const operatorProblems = {
  BelowMinimum: payoutProblems.BelowMinimum,
  DuplicateReference: duplicate(),
  HandleRejected: accountProblems.HandleRejected,
  HandleTaken: accountProblems.HandleTaken,
  NoSuchLoss: invalidField("amount_cents"),
  PayoutNotRetried: (e) =>
    e.because === "unknown"
      ? { status: 404, code: "NOT_FOUND", hint: "GET /api/v1/operator/payouts lists all payouts." }
      : { status: 422, code: "VALIDATION_ERROR", details: [{ path: ["payout_id"], message: e.message }] },
  UnknownProvider: invalidField("provider_id")
} satisfies ProblemsOf<Handles | PayoutRetries | PlatformFunds, UnknownProvider>

const { route } = routesWith(operatorProblems)

const { endpoints } = OperatorApi

export const operatorRoutes = Effect.gen(function* () {
  const funds = yield* PlatformFunds
  const solvencyNow = yield* solvencyReport
  const money = yield* ProviderMoney
  const accounts = yield* AccountStore
  const freezes = yield* AccountFreezes
  const handles = yield* Handles
  const fees = yield* PlatformFees
  const providerFreezes = yield* ProviderFreezes
  const retries = yield* PayoutRetries

  const wholeFee = Effect.fnUntraced(function* (provider_id: ProviderId, fee: FeeInEffect) {
    return { provider_id, ...feeView(fee), ...feeChangesView(yield* accounts.feeHistory(provider_id)) }
  })

  return [
    route(endpoints.solvency, solvencyNow),
    route(endpoints.moveFunds, function* ({ payload: { action, amount_cents, reference } }) {
      const movement = { amount: fromCents(amount_cents), reference }
      const { repeated } = yield* action === "deposit"
        ? funds.deposit(movement)
        : action === "withdraw"
          ? funds.withdraw(movement)
          : funds.coverLosses(movement)
      return { action, amount_cents, reference, repeated, solvency: yield* solvencyNow() }
    }),
    route(endpoints.setReserve, function* ({ params: { provider_id }, payload: { lifted } }) {
      if (Option.isNone(yield* accounts.findProvider(provider_id))) {
        return yield* new UnknownProvider({ providerId: provider_id })
      }
      yield* money.setReserveLifted(provider_id, lifted)
      return { provider_id, lifted }
    }),
    route(endpoints.platformFee, function* ({ params: { provider_id } }) {
      return yield* wholeFee(provider_id, yield* fees.find(provider_id))
    }),
    route(endpoints.setPlatformFee, function* ({ as, params: { provider_id }, payload }) {
      const origin = { by: actorOf(as("operator")), reason: payload.reason || undefined }
      return yield* wholeFee(provider_id, yield* fees.set(provider_id, payload.platform_fee_bps ?? undefined, origin))
    }),
    route(endpoints.setHandle, function* ({ params: { provider_id }, payload: { handle, retire_previous = false } }) {
      const { previous } = yield* handles.reassign({
        providerId: provider_id,
        handle,
        retirePrevious: retire_previous
      })
      const previous_retired = retire_previous && previous !== handle
      return { provider_id, handle, previous_handle: previous, previous_retired }
    }),
    route(endpoints.imitations, function* () {
      const found = (yield* handles.imitations).map((one) =>
        fieldsOf(one, "handle", "providerId", "imitates", "imitatedProviderId")
      )
      return { imitations: found, total: found.length }
    }),
    route(endpoints.freeze, function* ({ params: { consumer_id }, payload: { reason } }) {
      if (Option.isNone(yield* accounts.findConsumer(consumer_id))) {
        return yield* new NotFound({ what: `Consumer ${consumer_id}` })
      }
      const wasFrozen = yield* freezes.freeze(consumer_id, reason)
      return { consumer_id, frozen: true as const, was_frozen: wasFrozen, reason }
    }),
    route(endpoints.unfreeze, function* ({ params: { consumer_id } }) {
      if (Option.isNone(yield* accounts.findConsumer(consumer_id))) {
        return yield* new NotFound({ what: `Consumer ${consumer_id}` })
      }
      const wasFrozen = yield* freezes.unfreeze(consumer_id)
      return { consumer_id, frozen: false as const, was_frozen: wasFrozen }
    }),
    route(endpoints.freezeProvider, function* ({ params: { provider_id }, payload: { reason } }) {
      const wasFrozen = yield* providerFreezes.freeze(provider_id, reason)
      return { provider_id, frozen: true as const, was_frozen: wasFrozen, reason }
    }),
    route(endpoints.unfreezeProvider, function* ({ params: { provider_id } }) {
      const wasFrozen = yield* providerFreezes.unfreeze(provider_id)
      return { provider_id, frozen: false as const, was_frozen: wasFrozen }
    }),
    route(endpoints.retryPayout, function* ({ params: { payout_id } }) {
      const { payout, repeated } = yield* retries.retry(payout_id)
      return {
        payout_id: payout.id,
        retried_payout_id: payout_id,
        ...fieldsOf(payout, "providerId", "amountCents", "state", "failure"),
        repeated
      }
    })
  ]
})

export const operatorSessionRoutes = Effect.gen(function* () {
  const sessions = yield* OperatorSessions
  const trail = yield* AuditTrail
  const { atomically } = yield* UnitOfWork
  const baseUrl = yield* BaseUrl

  const signIn = Effect.fnUntraced(function* (key: string, name: string, address: string) {
    const signedIn = yield* sessions.signIn(key, name)
    yield* trail.record({
      action: "session.create",
      actor: name,
      sessionId: signedIn.session.id,
      address,
      subject: undefined,
      reason: undefined,
      details: undefined
    })
    return signedIn
  }, atomically)

  return [
    replyRoute(OperatorSessionApi.endpoints.signIn, function* ({ clientAddress, payload: { key, name }, request }) {
      const origin = header(request, "origin")
      if (origin !== undefined && !isFromOwnPage(request, baseUrl)) return yield* new NotFromOwnPage({ origin })
      const { session, token } = yield* signIn(key, name, clientAddress)
      return { status: 201, body: shown(session), headers: { "set-cookie": sessionCookie(baseUrl, token) } }
    }),
    plainRoute(OperatorSessionApi.endpoints.session, ({ as }) => Effect.succeed(shownOf(as("operator")))),
    replyRoute(OperatorSessionApi.endpoints.signOut, function* ({ as }) {
      const { session } = as("operator")
      const ended = session !== undefined && (yield* sessions.end(session.id))
      return { status: 200, body: { ended }, headers: { "set-cookie": endedCookie(baseUrl) } }
    }),
    replyRoute(OperatorSessionApi.endpoints.endSessions, function* () {
      return {
        status: 200,
        body: { ended: yield* sessions.endAll },
        headers: { "set-cookie": endedCookie(baseUrl) }
      }
    }),
    plainRoute(OperatorSessionApi.endpoints.auditTrail, function* ({ query }) {
      const page = yield* pageRequest("audit-trail", query)
      const found = yield* trail.list({ action: query.action, subject: query.subject }, page)
      return { entries: found.items.map(entryView), ...pageFields("audit-trail", page, found) }
    })
  ]
})

const shown = (session: OperatorSession) => ({ session_id: session.id, ...fieldsOf(session, "name", "expiresAt") })

const shownOf = ({ session }: Extract<Principal, { readonly role: "operator" }>) =>
  session === undefined ? { session_id: null, name: "API key", expires_at: null } : shown(session)

const entryView = (entry: AuditEntry) => ({
  entry_id: entry.id,
  ...fieldsOf(entry, "at", "action", "actor", "sessionId", "address", "subject", "reason", "details")
})
