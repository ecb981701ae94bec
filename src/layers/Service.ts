/**
 * The whole service for a configuration: this file selects the adapters. Adapters with large libraries are loaded only
 * if needed, because a start spends most of its time on loading.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Clock, type Context, Duration, Effect, Layer, Redacted, Result } from "effect"
import { RateLimiter } from "effect/persistence"
import { statfs } from "node:fs/promises"
import { hmacOf } from "../../adapters/crypto/Hmac.ts"
import * as NodeDigest from "../../adapters/crypto/NodeDigest.ts"
import * as NodeEntropy from "../../adapters/crypto/NodeEntropy.ts"
import * as NodeReceiptSigner from "../../adapters/crypto/NodeReceiptSigner.ts"
import * as NodeSealer from "../../adapters/crypto/NodeSealer.ts"
import * as PublishedProofs from "../../adapters/dns/PublishedProofs.ts"
import * as HttpService from "../../adapters/http/HttpService.ts"
import { BaseUrl, pageUrl } from "../../adapters/http/contract/BaseUrl.ts"
import {
  HttpSettings,
  type MetricsAccess,
  RateLimits,
  SIGN_INS_PER_MINUTE_MAX,
  WRONG_KEYS_PER_MINUTE_MAX
} from "../../adapters/http/pipeline/Stages.ts"
import { parseTrustedProxies } from "../../adapters/http/pipeline/WebRequest.ts"
import * as AjvJsonSchemas from "../../adapters/jsonschema/AjvJsonSchemas.ts"
import * as OutboxMailer from "../../adapters/mail/OutboxMailer.ts"
import * as McpUpstream from "../../adapters/mcp/McpUpstream.ts"
import { derivedSecrets } from "../../adapters/mcp/client/ProviderSignature.ts"
import { parsePolicy, publicAndLoopback, publicOnly } from "../../adapters/mcp/egress/AddressGuard.ts"
import { makeGuardedFetch, registeredEndpoints } from "../../adapters/mcp/egress/GuardedEgress.ts"
import * as BoundedRateLimiterStore from "../../adapters/memory/accounts/BoundedRateLimiterStore.ts"
import { noInvoicePrinter, noMailer } from "../../adapters/memory/shared/UnconnectedPorts.ts"
import * as PdfInvoicePrinter from "../../adapters/pdf/PdfInvoicePrinter.ts"
import * as SitePages from "../../adapters/site/SitePages.ts"
import { OperatorKey, RateLimitPolicy } from "../../domain/accounts/Authentication.ts"
import { EndpointGuard } from "../../domain/accounts/EndpointGuard.ts"
import { JsonSchemas } from "../../domain/catalog/JsonSchemas.ts"
import { CatalogPolicy } from "../../domain/catalog/Terms.ts"
import {
  CurrentEarningsPolicy,
  DRY_RUN_EARNINGS_POLICY,
  type EarningsPolicy,
  LIVE_EARNINGS_POLICY
} from "../../domain/earnings/EarningStates.ts"
import { InvoicePrinter } from "../../domain/invoices/Invoice.ts"
import { PaymentGateway } from "../../domain/ledger/PaymentGateway.ts"
import { DefaultFeeBasisPoints } from "../../domain/ledger/PlatformFee.ts"
import { LogSigner } from "../../domain/log/LogStore.ts"
import { LogHome } from "../../domain/log/Sequencer.ts"
import { ToolboxToolsMax } from "../../domain/mcp/Toolbox.ts"
import { UPSTREAM_LIMITS, UpstreamLimits } from "../../domain/metering/CallTerms.ts"
import { ProviderSecrets } from "../../domain/metering/ProviderSecrets.ts"
import { CheckoutReturn, NewAccountLoadLimit } from "../../domain/payments/Loads.ts"
import { DiskWatch, makeDiskWatch } from "../../domain/platform/Health.ts"
import { makeReadReplica, ReadReplica } from "../../domain/platform/ReadReplica.ts"
import { ReceiptSigner } from "../../domain/receipts/Receipts.ts"
import { Sealer } from "../../domain/shared/Cryptography.ts"
import { monotonicMs } from "../../domain/shared/Time.ts"
import { VerificationEndpoint } from "../../domain/trust/Challenge.ts"
import { Mailer } from "../../domain/trust/Mailer.ts"
import { ProofReader } from "../../domain/trust/Verification.ts"
import { ProviderServers } from "../../domain/upstream/ProviderServers.ts"
import { ToolUpstream } from "../../domain/upstream/ToolUpstream.ts"
import { type AppConfig, valueOf } from "../config/AppConfig.ts"
import { readOptions, type ServiceConfig, type ServiceOptions } from "../config/ServiceOptions.ts"
import { listOf } from "../config/SettingValues.ts"
import { core } from "./Core.ts"
import { demoProvider, demoServer } from "./DemoProvider.ts"
import { importJobs, runJobs, taskJobs } from "./Jobs.ts"
import { withTaskStore } from "./MemoryStores.ts"
import { offers } from "./Offers.ts"
import { isInstalled, needing, PackageMissing } from "./OptionalPackages.ts"
import { gateway, sameBook } from "./Payments.ts"
import { profileStores, STORED } from "./ProfileStores.ts"
import { rejectIgnored, type Replacements, unlessGiven } from "./Replacements.ts"
import { logHome, logSigner, logState, signingSecrets } from "./Secrets.ts"
import { assets } from "./SiteAssets.ts"

const ENDPOINT_CHECK_MS = 1_000
const PRICE_NOTICE_HOURS_DEFAULT = 24

const references = (config: ServiceConfig) => {
  const baseUrl = config.BASE_URL
  const rpm = valueOf(config, "RATE_LIMIT_RPM")
  return Layer.mergeAll(
    Layer.succeed(OperatorKey, config.OPERATOR_KEY),
    Layer.sync(DiskWatch, () =>
      makeDiskWatch(config.profile === "embedded" ? freeBytesAt(valueOf(config, "DATA_DIR")) : undefined)
    ),
    readReplica(config),
    Layer.succeed(ToolboxToolsMax, valueOf(config, "TOOLBOX_TOOLS_MAX")),
    Layer.succeed(DefaultFeeBasisPoints, valueOf(config, "PLATFORM_FEE_BASIS_POINTS")),
    Layer.succeed(CatalogPolicy, {
      freeTierCalls: valueOf(config, "DEFAULT_FREE_TIER_CALLS"),
      priceNotice: priceNotice(config),
      withdrawalGrace: Duration.hours(valueOf(config, "TOOL_GRACE_HOURS")),
      probeTimeout: Duration.millis(valueOf(config, "ENDPOINT_PROBE_MS"))
    }),
    Layer.succeed(RateLimitPolicy, {
      defaultRpm: rpm === 0 ? valueOf(config, "RATE_LIMIT_RPM_MAX") : rpm,
      ceilingRpm: valueOf(config, "RATE_LIMIT_RPM_MAX"),
      providerRpm: 600
    }),
    Layer.succeed(HttpSettings, {
      rateLimits: {
        addressRpm: valueOf(config, "RATE_LIMIT_IP_RPM"),
        registrationRpm: valueOf(config, "RATE_LIMIT_REGISTER_RPM"),
        signInRpm: SIGN_INS_PER_MINUTE_MAX,
        wrongKeyRpm: valueOf(config, "RATE_LIMIT_IP_RPM") === 0 ? 0 : WRONG_KEYS_PER_MINUTE_MAX,
        keysLimited: rpm > 0
      },
      requestTimeoutMs: valueOf(config, "REQUEST_TIMEOUT_MS"),
      trustedProxies: parseTrustedProxies(listOf(config.TRUST_PROXY ?? "")),
      metrics: config.metrics ?? config.METRICS_TOKEN ?? "closed",
      metricsOfWorkers: config.others?.metrics,
      securityContact: config.SECURITY_CONTACT
    }),
    Layer.sync(EndpointGuard, () =>
      registeredEndpoints({ policy: upstreamPolicy(config), connectTimeoutMs: ENDPOINT_CHECK_MS })
    ),
    Layer.succeed(UpstreamLimits, {
      timeoutMs: valueOf(config, "UPSTREAM_TIMEOUT_MS"),
      retriesMax: valueOf(config, "UPSTREAM_RETRIES"),
      totalMs: UPSTREAM_LIMITS.totalMs,
      progressMsMax: valueOf(config, "UPSTREAM_PROGRESS_MS_MAX"),
      inFlightMax: valueOf(config, "CALLS_IN_FLIGHT_MAX")
    }),
    Layer.succeed(VerificationEndpoint, `POST ${baseUrl}/api/v1/market/providers/verify`),
    Layer.succeed(CheckoutReturn, {
      successUrl: `${pageUrl(baseUrl, "/developer/funds")}?load=success`,
      cancelUrl: `${pageUrl(baseUrl, "/developer/funds")}?load=canceled`
    }),
    Layer.succeed(NewAccountLoadLimit, config.NEW_ACCOUNT_LOAD_CENTS_PER_DAY),
    Layer.succeed(LogHome, logHome(baseUrl)),
    logState(config),
    Layer.succeed(BaseUrl, baseUrl),
    Layer.succeed(CurrentEarningsPolicy, earningsPolicy(config))
  )
}

/** Addresses that the service may connect to for a user. Development profiles include loopback. */
export const upstreamPolicy = (config: AppConfig) => {
  if (config.ALLOW_UPSTREAM === undefined) return config.profile === "production" ? publicOnly : publicAndLoopback
  return Result.getOrThrow(parsePolicy(config.ALLOW_UPSTREAM))
}

/** Clients with the token may read /metrics; without a token all clients, except in production. */
export const metricsAccess = (config: Pick<AppConfig, "profile" | "METRICS_TOKEN">): MetricsAccess =>
  config.METRICS_TOKEN ?? (config.profile === "production" ? "closed" : "open")

/** The policy is strict with real payments, off in a dry run. */
export const earningsPolicy = (config: AppConfig): EarningsPolicy => {
  const preset = config.PAYMENTS === "stripe" ? LIVE_EARNINGS_POLICY : DRY_RUN_EARNINGS_POLICY
  return {
    delayDays: config.PAYOUT_DELAY_DAYS ?? preset.delayDays,
    newProviderDelayDays: config.PAYOUT_DELAY_DAYS_NEW ?? preset.newProviderDelayDays,
    newProviderDays: LIVE_EARNINGS_POLICY.newProviderDays,
    reservePercent: config.RESERVE_PERCENT ?? preset.reservePercent,
    reserveDays: config.RESERVE_DAYS ?? preset.reserveDays,
    refundLossLimitCents: valueOf(config, "REFUND_LOSS_LIMIT_CENTS"),
    chargebackLiability: valueOf(config, "CHARGEBACK_LIABILITY")
  }
}

/** A disk whose space cannot be read counts as not full. */
const freeBytesAt = (folder: string): Effect.Effect<number> =>
  Effect.tryPromise(() => statfs(folder)).pipe(
    Effect.map(({ bavail, bsize }) => bavail * bsize),
    Effect.orElseSucceed(() => Number.POSITIVE_INFINITY)
  )

/** Simulated money needs no notice: changes apply at once. */
const priceNotice = (config: AppConfig): Duration.Duration =>
  Duration.hours(config.PRICE_NOTICE_HOURS ?? (config.PAYMENTS === "stripe" ? PRICE_NOTICE_HOURS_DEFAULT : 0))

/** The state of the read replica: the stores find it out, and health and metrics show it. */
const readReplica = (config: AppConfig) =>
  Layer.effect(
    ReadReplica,
    Effect.map(Clock.Clock, (clock) =>
      config.DATABASE_READ_URL === undefined
        ? undefined
        : makeReadReplica(valueOf(config, "DATABASE_READ_LAG_MS_MAX"), () => monotonicMs(clock))
    )
  )

const redisStore = (url: Redacted.Redacted) =>
  Layer.unwrap(
    Effect.map(
      needing("redis", () => import("../../adapters/redis/RedisRateLimiterStore.ts")),
      (RedisRateLimiterStore) => RedisRateLimiterStore.layer(url)
    )
  )

const rateLimiter = ({ others, REDIS_URL }: ServiceConfig) => {
  const own =
    others === undefined ? BoundedRateLimiterStore.layer : BoundedRateLimiterStore.layerOver(others.tokenBucket)
  return RateLimiter.layer.pipe(
    Layer.provideMerge(REDIS_URL === undefined ? own : redisStore(REDIS_URL).pipe(Layer.provide(own)))
  )
}

/** The first signs, all of them verify. A profile without a database generates a secret for the process. */
const secrets = (config: AppConfig) =>
  Layer.unwrap(
    Effect.map(signingSecrets(config), (ring) =>
      Layer.mergeAll(
        NodeSealer.layer(ring),
        NodeReceiptSigner.layer(ring),
        Layer.succeed(ProviderSecrets, { secretOf: derivedSecrets(ring[0]) })
      )
    )
  ).pipe(Layer.provide(NodeEntropy.layer), Layer.provide(NodeServices.layer))

const upstream = (config: AppConfig) =>
  Layer.unwrap(
    Effect.map(Effect.all([ProviderSecrets, demoServer(config)]), ([{ secretOf }, builtIn]) =>
      McpUpstream.layer({
        policy: upstreamPolicy(config),
        builtIn,
        signerOf: (providerId) => hmacOf(Buffer.from(Redacted.value(secretOf(providerId)))),
        answerBytesMax: valueOf(config, "ANSWER_BYTES_IN_FLIGHT_MAX")
      })
    )
  )

const CONNECT_TIMEOUT_MS = 3_000

const mailer = (config: AppConfig) => {
  if (config.SMTP_URL !== undefined) {
    const smtp = { url: config.SMTP_URL, from: valueOf(config, "MAIL_FROM") }
    return Layer.unwrap(
      Effect.map(
        needing("nodemailer", () => import("../../adapters/mail/SmtpMailer.ts")),
        (SmtpMailer) => SmtpMailer.layer(smtp)
      )
    )
  }
  if (config.profile === "production") return noMailer
  const folder = config.profile === "embedded" ? `${valueOf(config, "DATA_DIR")}/outbox` : undefined
  return OutboxMailer.layer(folder).pipe(Layer.provide([NodeServices.layer, NodeEntropy.layer]))
}

const proofs = (config: AppConfig) =>
  Layer.unwrap(
    Effect.map(makeGuardedFetch({ policy: upstreamPolicy(config), connectTimeoutMs: CONNECT_TIMEOUT_MS }), (fetch) =>
      PublishedProofs.layer({ fetch, dnsServers: listOf(config.DNS_SERVERS ?? "") })
    )
  )

/** PDF is one of three forms of a document: a service without the package starts, and logs what to install. */
const invoicePrinter = Layer.unwrap(
  Effect.sync(() =>
    isInstalled("pdfkit") ? PdfInvoicePrinter.layer : noInvoicePrinter(new PackageMissing({ name: "pdfkit" }).message)
  )
)

const probedJobs = Layer.effectDiscard(Effect.flatMap(RateLimits, ({ probe }) => runJobs([probe]))).pipe(
  Layer.provide(RateLimits.layer)
)

const composed = <Settings>(
  config: ServiceConfig,
  settings: Context.Context<Settings>,
  given: Context.Context<never>
) => {
  const own = Layer.succeedContext(given)
  const orGiven = unlessGiven(given)
  const signing = orGiven(secrets(config), ProviderSecrets, ReceiptSigner, Sealer)
  return HttpService.layer.pipe(
    Layer.provide(SitePages.layer),
    Layer.merge(probedJobs),
    Layer.merge(importJobs),
    Layer.merge(taskJobs),
    Layer.merge(demoProvider(config)),
    Layer.provide(offers),
    Layer.provide(core),
    Layer.provide(sameBook),
    Layer.provide(own),
    Layer.provide([
      orGiven(profileStores(config), ...STORED),
      signing,
      orGiven(rateLimiter(config), RateLimiter.RateLimiter),
      orGiven(AjvJsonSchemas.layer, JsonSchemas),
      orGiven(upstream(config).pipe(Layer.provide(own), Layer.provide(signing)), ToolUpstream, ProviderServers),
      orGiven(logSigner(config), LogSigner),
      orGiven(mailer(config), Mailer),
      orGiven(proofs(config), ProofReader),
      orGiven(gateway(config), PaymentGateway),
      orGiven(invoicePrinter, InvoicePrinter)
    ]),
    Layer.provide(own),
    Layer.provide([NodeDigest.layer, NodeEntropy.layer]),
    Layer.provide(Layer.succeedContext(settings)),
    Layer.provide(assets(config).pipe(Layer.provide(NodeServices.layer)))
  )
}

/**
 * The HTTP API and the background jobs, on the adapters of the profile. Given ports replace the profile's everywhere, and
 * those are not built. Each value is a service of its own, built once for each program that provides it.
 */
export const service = <Out = never, E = never, R = never>(options: ServiceOptions, ports?: Replacements<Out, E, R>) =>
  built(Effect.fromResult(readOptions(options)), ports)

/** The service of a configuration that was read. */
export const serviceOf = <Out = never, E = never, R = never>(config: ServiceConfig, ports?: Replacements<Out, E, R>) =>
  built(Effect.succeed(config), ports)

const built = <Invalid, Out, E, R>(
  config: Effect.Effect<ServiceConfig, Invalid>,
  ports: Replacements<Out, E, R> | undefined
) => {
  const all = Layer.flatMap((ports ?? Layer.empty) as Layer.Layer<never, E, R>, withTaskStore)
  const market = Layer.unwrap(
    Effect.map(config, (config) =>
      Layer.flatMap(all, (given) =>
        Layer.flatMap(references(config), (settings) =>
          // Its layers are constants: two services would share them, with the settings of one.
          Layer.fresh(composed(config, settings, given)).pipe(
            Layer.provide(Layer.effectDiscard(rejectIgnored(given, settings)))
          )
        )
      )
    )
  )
  // `flatMap` and `unwrap` do not memoize.
  return Layer.fromBuildMemo((memoMap, scope) => Layer.buildWithMemoMap(market, memoMap, scope))
}
