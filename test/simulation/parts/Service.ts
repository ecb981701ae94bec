/**
 * The service of the simulation: the whole core and the API, without pages, which would take most of the time of a start.
 */
import { Duration, Effect, Layer, Redacted } from "effect"
import { RateLimiter } from "effect/persistence"
import * as NodeDigest from "../../../adapters/crypto/NodeDigest.ts"
import * as NodeLogSigner from "../../../adapters/crypto/NodeLogSigner.ts"
import * as NodeReceiptSigner from "../../../adapters/crypto/NodeReceiptSigner.ts"
import * as NodeSealer from "../../../adapters/crypto/NodeSealer.ts"
import * as PublishedProofs from "../../../adapters/dns/PublishedProofs.ts"
import { accountsRoutes } from "../../../adapters/http/accounts/Accounts.ts"
import { toolsRoutes } from "../../../adapters/http/catalog/Catalog.ts"
import { BaseUrl } from "../../../adapters/http/contract/BaseUrl.ts"
import { payoutsRoutes, webhookRoutes } from "../../../adapters/http/earnings/Payouts.ts"
import { invoicesRoutes } from "../../../adapters/http/invoices/Invoices.ts"
import { meteringRoutes } from "../../../adapters/http/metering/Metering.ts"
import { proxyRoutes } from "../../../adapters/http/metering/Proxy.ts"
import { operatorRoutes } from "../../../adapters/http/operator/Operator.ts"
import { moneyRoutes } from "../../../adapters/http/payments/Money.ts"
import { Dispatcher, make } from "../../../adapters/http/pipeline/Dispatcher.ts"
import { HttpMetrics } from "../../../adapters/http/pipeline/RequestTelemetry.ts"
import { Pages } from "../../../adapters/http/pipeline/Route.ts"
import { HttpSettings, RateLimits } from "../../../adapters/http/pipeline/Stages.ts"
import { Draining, OpenStreams } from "../../../adapters/http/pipeline/WebRequest.ts"
import { disputesRoutes } from "../../../adapters/http/trust/Disputes.ts"
import * as AjvJsonSchemas from "../../../adapters/jsonschema/AjvJsonSchemas.ts"
import * as BoundedRateLimiterStore from "../../../adapters/memory/accounts/BoundedRateLimiterStore.ts"
import { noMailer, noProviderServers } from "../../../adapters/memory/shared/UnconnectedPorts.ts"
import * as PdfInvoicePrinter from "../../../adapters/pdf/PdfInvoicePrinter.ts"
import { OperatorKey, RateLimitPolicy } from "../../../domain/accounts/Authentication.ts"
import { CATALOG_POLICY, CatalogPolicy } from "../../../domain/catalog/Terms.ts"
import { CurrentEarningsPolicy } from "../../../domain/earnings/EarningStates.ts"
import { DefaultFeeBasisPoints } from "../../../domain/ledger/PlatformFee.ts"
import { LogCheck } from "../../../domain/log/LogCheck.ts"
import { LogHome } from "../../../domain/log/Sequencer.ts"
import { UPSTREAM_LIMITS, UpstreamLimits } from "../../../domain/metering/CallTerms.ts"
import { CheckoutReturn, NewAccountLoadLimit } from "../../../domain/payments/Loads.ts"
import { Receipts } from "../../../domain/receipts/Receipts.ts"
import { core } from "../../../src/layers/Core.ts"
import { offers } from "../../../src/layers/Offers.ts"
import type { Terms } from "../books/Terms.ts"

export const OPERATOR = "the operator's key of the simulation, 32 characters"
const RING = [Redacted.make("the secret of a simulated market, 32 characters")] as const

export const UPSTREAM_TIMEOUT_MS = 10_000

const settings = (terms: Terms) =>
  Layer.mergeAll(
    Layer.succeed(CurrentEarningsPolicy, {
      delayDays: terms.payoutDelayDays,
      newProviderDelayDays: terms.newProviderDelayDays,
      newProviderDays: terms.newProviderDays,
      reservePercent: terms.reservePercent,
      reserveDays: terms.reserveDays,
      refundLossLimitCents: terms.lossLimitCents,
      chargebackLiability: terms.chargebackLiability
    }),
    Layer.succeed(NewAccountLoadLimit, terms.newAccountLoadCentsPerDay),
    Layer.succeed(DefaultFeeBasisPoints, terms.feeBasisPoints),
    Layer.succeed(BaseUrl, "http://127.0.0.1:3000"),
    Layer.succeed(LogHome, "localhost/log"),
    Layer.succeed(CheckoutReturn, {
      successUrl: "http://127.0.0.1:3000/paid",
      cancelUrl: "http://127.0.0.1:3000/left"
    }),
    Layer.succeed(OperatorKey, Redacted.make(OPERATOR)),
    Layer.succeed(CatalogPolicy, {
      ...CATALOG_POLICY,
      priceNotice: Duration.hours(terms.priceNoticeHours),
      // The requests that a provider gets are those of calls.
      probeTimeout: Duration.zero
    }),
    Layer.succeed(UpstreamLimits, { ...UPSTREAM_LIMITS, timeoutMs: UPSTREAM_TIMEOUT_MS, totalMs: 0 }),
    Layer.succeed(RateLimitPolicy, { defaultRpm: 6_000, ceilingRpm: 6_000, providerRpm: 6_000 }),
    Layer.succeed(HttpSettings, {
      rateLimits: { addressRpm: 0, registrationRpm: 0, signInRpm: 0, wrongKeyRpm: 0, keysLimited: false },
      requestTimeoutMs: 30_000,
      trustedProxies: [],
      metrics: "closed",
      securityContact: undefined
    })
  )

const adapters = Layer.mergeAll(
  AjvJsonSchemas.layer,
  NodeSealer.layer(RING),
  NodeReceiptSigner.layer(RING),
  NodeLogSigner.layer(Redacted.make("5eed".repeat(16))),
  RateLimiter.layer.pipe(Layer.provide(BoundedRateLimiterStore.layer)),
  NodeDigest.layer,
  noMailer,
  noProviderServers,
  PublishedProofs.layer({ fetch: () => Effect.fail({ message: "nothing is published here" }), dnsServers: [] }),
  PdfInvoicePrinter.layer
)

const routes = Effect.map(
  Effect.all([
    accountsRoutes,
    toolsRoutes,
    proxyRoutes,
    meteringRoutes,
    moneyRoutes,
    payoutsRoutes,
    operatorRoutes,
    webhookRoutes,
    invoicesRoutes,
    disputesRoutes
  ]),
  (groups) => groups.flat()
)

/** The simulation calls the API only. */
const NO_PAGE = { status: 404, headers: {}, body: "" }

const dispatcher = Layer.effect(
  Dispatcher,
  Effect.flatMap(routes, (all) => make(all, NO_PAGE))
).pipe(
  Layer.provide([
    RateLimits.layer,
    HttpMetrics.layer,
    OpenStreams.layer,
    Draining.layer,
    Layer.succeed(Pages, { routes: [], notFound: NO_PAGE, documents: [], invoice: () => NO_PAGE })
  ])
)

export const serviceOn = (terms: Terms) =>
  dispatcher.pipe(
    Layer.provide(offers),
    Layer.provideMerge(core),
    Layer.provideMerge(LogCheck.layer.pipe(Layer.provide(Receipts.layer))),
    Layer.provideMerge(adapters),
    Layer.provide(settings(terms))
  )

export type Services = Layer.Success<ReturnType<typeof serviceOn>>
