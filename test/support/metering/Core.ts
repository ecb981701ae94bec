/**
 * The service as in ServiceUnderTest, with access to its services: for what no request can do, such as running the
 * sweeper now. It has no background jobs.
 */
import { Duration, Effect, Layer, Logger, Redacted } from "effect"
import { RateLimiter } from "effect/persistence"
import { hmacOf } from "../../../adapters/crypto/Hmac.ts"
import * as NodeDigest from "../../../adapters/crypto/NodeDigest.ts"
import * as NodeEntropy from "../../../adapters/crypto/NodeEntropy.ts"
import * as NodeLogSigner from "../../../adapters/crypto/NodeLogSigner.ts"
import * as NodeReceiptSigner from "../../../adapters/crypto/NodeReceiptSigner.ts"
import * as NodeSealer from "../../../adapters/crypto/NodeSealer.ts"
import * as PublishedProofs from "../../../adapters/dns/PublishedProofs.ts"
import * as HttpService from "../../../adapters/http/HttpService.ts"
import { BaseUrl } from "../../../adapters/http/contract/BaseUrl.ts"
import { HttpSettings } from "../../../adapters/http/pipeline/Stages.ts"
import * as AjvJsonSchemas from "../../../adapters/jsonschema/AjvJsonSchemas.ts"
import * as McpUpstream from "../../../adapters/mcp/McpUpstream.ts"
import { publicAndLoopback } from "../../../adapters/mcp/egress/AddressGuard.ts"
import * as BoundedRateLimiterStore from "../../../adapters/memory/accounts/BoundedRateLimiterStore.ts"
import { noMailer } from "../../../adapters/memory/shared/UnconnectedPorts.ts"
import * as DryRunGateway from "../../../adapters/payments/DryRunGateway.ts"
import * as PdfInvoicePrinter from "../../../adapters/pdf/PdfInvoicePrinter.ts"
import * as SitePages from "../../../adapters/site/SitePages.ts"
import { Documents } from "../../../adapters/site/docs/Markdown.ts"
import { Assets } from "../../../adapters/site/kit/Assets.ts"
import { RateLimitPolicy } from "../../../domain/accounts/Authentication.ts"
import { CATALOG_POLICY, CatalogPolicy } from "../../../domain/catalog/Terms.ts"
import {
  CurrentEarningsPolicy,
  DRY_RUN_EARNINGS_POLICY,
  type EarningsPolicy
} from "../../../domain/earnings/EarningStates.ts"
import type { PaymentGateway } from "../../../domain/ledger/PaymentGateway.ts"
import { LogHome } from "../../../domain/log/Sequencer.ts"
import { UPSTREAM_LIMITS, UpstreamLimits } from "../../../domain/metering/CallTerms.ts"
import { ProviderSecrets } from "../../../domain/metering/ProviderSecrets.ts"
import { CheckoutReturn } from "../../../domain/payments/Loads.ts"
import type { Mailer } from "../../../domain/trust/Mailer.ts"
import type { ProofReader } from "../../../domain/trust/Verification.ts"
import { core } from "../../../src/layers/Core.ts"
import { memoryProfile } from "../../../src/layers/MemoryStores.ts"
import { offers } from "../../../src/layers/Offers.ts"
import { postgresStores } from "../../../src/layers/PostgresStores.ts"
import { ServiceUnderTest } from "../market/ServiceUnderTest.ts"
import { DeclaredRoutes } from "../security/DeclaredRoutes.ts"
import { overBoth, PostgresTest } from "../servers/PostgresTest.ts"

/** From opening a call until the sweeper may end it: two attempts of this length, and 30 s. */
export const UPSTREAM_TIMEOUT_MS = 10_000
export const DEADLINE_SECONDS = 50

export const CORE_SECRET = "the secret of a core under test, 32 characters"
const RING = [Redacted.make(CORE_SECRET)] as const

const PROVIDER_SECRET = Redacted.make("a provider's")

/** Where the service is public. */
export const PUBLIC = Layer.mergeAll(
  Layer.succeed(BaseUrl, "http://127.0.0.1:3000"),
  Layer.succeed(LogHome, "localhost/log"),
  Layer.succeed(CheckoutReturn, { successUrl: "http://127.0.0.1:3000/paid", cancelUrl: "http://127.0.0.1:3000/left" })
)

/** No limits of rates, and open metrics. */
const UNLIMITED: HttpSettings["Service"] = {
  rateLimits: { addressRpm: 0, registrationRpm: 0, signInRpm: 0, wrongKeyRpm: 0, keysLimited: false },
  requestTimeoutMs: 30_000,
  trustedProxies: [],
  metrics: "open",
  securityContact: undefined
}

const settings = Layer.mergeAll(
  // The requests that a provider gets are those of calls.
  Layer.succeed(CatalogPolicy, { ...CATALOG_POLICY, priceNotice: Duration.zero, probeTimeout: Duration.zero }),
  Layer.succeed(UpstreamLimits, { ...UPSTREAM_LIMITS, timeoutMs: UPSTREAM_TIMEOUT_MS, totalMs: 0 }),
  Layer.succeed(RateLimitPolicy, { defaultRpm: 6_000, ceilingRpm: 6_000, providerRpm: 6_000 }),
  Layer.succeed(HttpSettings, UNLIMITED),
  Logger.layer([])
)

const adapters = Layer.mergeAll(
  PUBLIC,
  Layer.succeed(Assets, new Map()),
  Layer.succeed(Documents, new Map()),
  AjvJsonSchemas.layer,
  NodeSealer.layer(RING),
  NodeReceiptSigner.layer(RING),
  NodeLogSigner.layer(Redacted.make("5eed".repeat(16))),
  Layer.succeed(ProviderSecrets, { secretOf: () => PROVIDER_SECRET }),
  McpUpstream.layer({
    policy: publicAndLoopback,
    signerOf: () => hmacOf(Buffer.from(Redacted.value(PROVIDER_SECRET)))
  }),
  RateLimiter.layer.pipe(Layer.provide(BoundedRateLimiterStore.layer)),
  NodeDigest.layer,
  NodeEntropy.layer
)

const NOTHING_PUBLISHED = PublishedProofs.layer({
  fetch: () => Effect.fail({ message: "nothing is published here" }),
  dnsServers: []
})

const NO_EVIDENCE: Layer.Layer<Mailer | ProofReader> = Layer.merge(noMailer, NOTHING_PUBLISHED)

const on = <G>(
  stores: Layer.Layer<Layer.Success<typeof memoryProfile>>,
  gateway: Layer.Layer<PaymentGateway | G>,
  evidence = NO_EVIDENCE,
  rules: EarningsPolicy = DRY_RUN_EARNINGS_POLICY
) =>
  Layer.merge(ServiceUnderTest.over(HttpService.layer), DeclaredRoutes.layer).pipe(
    Layer.provide(SitePages.layer),
    Layer.provideMerge(offers),
    Layer.provideMerge(core),
    Layer.provideMerge(gateway),
    Layer.provide([PdfInvoicePrinter.layer, evidence]),
    Layer.provideMerge(stores),
    Layer.provideMerge(adapters),
    Layer.provide([settings, Layer.succeed(CurrentEarningsPolicy, rules)])
  )

const onPostgres = (lockTimeoutMs?: number) =>
  Layer.unwrap(
    Effect.map(PostgresTest, ({ url }) => Layer.orDie(postgresStores({ url, connectionsMax: 10, lockTimeoutMs })))
  ).pipe(Layer.provide(PostgresTest.layerDatabase))

export const memoryCore = on(memoryProfile, DryRunGateway.layer)

export const postgresCore = on(onPostgres(), DryRunGateway.layer)

/** For races, and for what only a database does. */
export const everyCore = overBoth(memoryCore, postgresCore)

/** With the test's own mail and proofs. */
export const memoryCoreReading = (evidence: Layer.Layer<Mailer | ProofReader>) =>
  on(memoryProfile, DryRunGateway.layer, evidence)

/** With a payment processor that the test controls. */
export const memoryCoreWith = <G>(
  gateway: Layer.Layer<PaymentGateway | G>,
  rules: EarningsPolicy = DRY_RUN_EARNINGS_POLICY
) => on(memoryProfile, gateway, NO_EVIDENCE, rules)

export const postgresCoreWith = <G>(
  gateway: Layer.Layer<PaymentGateway | G>,
  rules: EarningsPolicy = DRY_RUN_EARNINGS_POLICY,
  lockTimeoutMs?: number
) => on(onPostgres(lockTimeoutMs), gateway, NO_EVIDENCE, rules)

export const everyCoreWith = <G>(
  gateway: Layer.Layer<PaymentGateway | G>,
  rules: EarningsPolicy = DRY_RUN_EARNINGS_POLICY
) => overBoth(memoryCoreWith(gateway, rules), postgresCoreWith(gateway, rules))
