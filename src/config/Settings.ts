/**
 * Every setting: its name, its meaning, how its text is decoded, and its default. Environment names, flags, options of
 * `service()`, the help text, `config` and the table of docs/settings.md come from this list.
 */
import type { Schema } from "effect"
import { FEE_BASIS_POINTS_MAX } from "../../domain/ledger/PlatformFee.ts"
import {
  collector,
  databaseUrl,
  headers,
  httpUrl,
  oneOf,
  proxies,
  ratio,
  redactedText,
  redactedUrl,
  replicaUrl,
  reportAddress,
  secret,
  seed,
  text,
  upstream,
  whole,
  workers
} from "./SettingValues.ts"

/** One setting: how its text is decoded, what it means, and its default. */
export interface Setting<A, F extends string | undefined> {
  readonly schema: Schema.ConstraintDecoder<A>
  readonly meaning: string
  /** The default as text. A setting without one is absent by default. */
  readonly fallback: F
  readonly secret: boolean
}

export const setting = <A, const F extends string | undefined = undefined>(
  schema: Schema.ConstraintDecoder<A>,
  meaning: string,
  fallback?: F
): Setting<A, F> => ({ schema, meaning, fallback: fallback as F, secret: false })

/** `config` does not show its value. */
const secretSetting = <A>(schema: Schema.ConstraintDecoder<A>, meaning: string): Setting<A, undefined> => ({
  ...setting(schema, meaning),
  secret: true
})

/** The setting is of the process that the command runs: `service()` has no option for it. */
const ofCommand = <S>(one: S): S & { readonly onlyCommand: true } => ({ ...one, onlyCommand: true })

export const settings = {
  PROFILE: setting(
    oneOf(["memory", "embedded", "production"]),
    "`memory` (no database), `embedded` (a PostgreSQL in DATA_DIR) or `production` (the PostgreSQL at " +
      "DATABASE_URL). Default: `production` if DATABASE_URL is set, otherwise `embedded`"
  ),
  HOST: ofCommand(setting(text, "address to listen on", "127.0.0.1")),
  PORT: ofCommand(setting(whole(0, 65_535), "port to listen on", "3000")),
  WORKERS: ofCommand(
    setting(
      workers,
      "processes that serve PORT together, supervised by one more: a number, or `auto` for one per core. More than 1 needs " +
        "a database. Each has connections and memory as a node has",
      "1"
    )
  ),
  BASE_URL: setting(
    httpUrl,
    "public URL of the service. Default: derived from HOST and PORT. Required where another app mounts the API, with " +
      "the prefix of the API"
  ),
  SITE_PAGES_DIR: setting(
    text,
    "folder with `terms.md`, `privacy.md` and `fees.md`, each optional: the operator's pages at `/docs/terms` and so on"
  ),
  SECURITY_CONTACT: setting(reportAddress, "contact in `/.well-known/security.txt`, which is absent without it"),
  DATA_DIR: setting(text, "folder of the embedded database and of generated secrets (mode 0600)", "./data"),
  DATABASE_URL: secretSetting(
    databaseUrl,
    "a PostgreSQL, version 15 or newer. Several servers of which one is the primary: " +
      "`postgres://user:password@db1:5432,db2:5432/billing?target_session_attrs=read-write`"
  ),
  MIGRATION_DATABASE_URL: secretSetting(
    databaseUrl,
    "the same database as the role that owns its tables. It migrates, and DATABASE_URL's role cannot change transfers, " +
      "receipts or invoices. Without it the role of DATABASE_URL migrates"
  ),
  DATABASE_READ_URL: secretSetting(
    replicaUrl,
    "read replicas of DATABASE_URL, one or several hosts. They answer reads of the catalog, the market's and the " +
      "platform's totals, and usage. Everything else is read from the primary"
  ),
  DATABASE_READ_LAG_MS_MAX: setting(
    whole(2_000, 3_600_000),
    "how far a read replica may be behind the primary. Beyond it, and while no replica responds, the primary answers",
    "5000"
  ),
  DATABASE_CONNECTIONS_MAX: setting(
    whole(2, 500),
    "connections of each worker of a node, and as many to a read replica",
    "10"
  ),
  RECEIPT_SIGNING_SECRET: secretSetting(
    secret,
    "signs receipts. Required in production; the embedded profile generates one in DATA_DIR"
  ),
  RECEIPT_SIGNING_SECRETS_OLD: secretSetting(text, "earlier secrets, comma-separated, which still verify receipts"),
  LOG_SIGNING_KEY: secretSetting(
    seed,
    "Ed25519 seed that signs the transparency log, 64 hex digits. Required in production; the embedded profile " +
      "generates one in DATA_DIR. A new key starts a new log"
  ),
  LOG_STATE_FILE: setting(
    text,
    "stores the last signed tree of the log. Put it on a disk that survives the loss of the database. Default " +
      "when embedded: `DATA_DIR/log-signed-tree`"
  ),
  ARCHIVE_DIR: setting(text, "folder of archived receipts: `archive` writes it, and nodes find receipts there by ID"),
  OPERATOR_KEY: secretSetting(secret, "API key of the operator. Without one the operator endpoints are disabled"),
  METRICS_TOKEN: secretSetting(
    secret,
    "bearer token for `/metrics`. Without one `/metrics` is public in memory and embedded, and closed in " +
      "production and where another app mounts the API"
  ),
  PAYMENTS: setting(
    oneOf(["dry_run", "stripe"]),
    "`dry_run` (money is simulated and no provider is paid; default of memory and embedded) or `stripe`. Required " +
      "in production. The first movement of money fixes the mode and the processor account of a database; a node " +
      "with another mode or account does not start on it"
  ),
  STRIPE_SECRET_KEY: secretSetting(redactedText, "Stripe API key. Required with `PAYMENTS=stripe`"),
  STRIPE_WEBHOOK_SECRET: secretSetting(
    redactedText,
    "secret that verifies Stripe webhooks. Required with `PAYMENTS=stripe`"
  ),
  STRIPE_API_BASE: setting(httpUrl, "URL used instead of Stripe's API, for tests with a double"),
  DEMO_PROVIDER: setting(
    oneOf(["on", "off"]),
    "lists a provider with four tools that run inside the service, to try it out. Only in a dry run of memory and " +
      "embedded. Default: `on` there, unless another app mounts the API"
  ),
  PAYOUT_DELAY_DAYS: setting(
    whole(0, 365),
    "full days from the settlement day of a call until its earnings can be paid out. Default: 7, or 0 in a dry run"
  ),
  PAYOUT_DELAY_DAYS_NEW: setting(
    whole(0, 365),
    "the same for earnings of a provider's first 90 days. Default: 30, or 0 in a dry run"
  ),
  RESERVE_PERCENT: setting(
    whole(0, 100),
    "rolling reserve: percentage of each day's earnings that is kept against disputes and chargebacks. Default: " +
      "10, or 0 in a dry run"
  ),
  RESERVE_DAYS: setting(whole(0, 365), "days that the rolling reserve is kept. Default: 90, or 0 in a dry run"),
  REFUND_LOSS_LIMIT_CENTS: setting(
    whole(0, 1_000_000_000),
    "total that the platform advances from its own funds for refunds that providers cannot pay yet",
    "0"
  ),
  CHARGEBACK_LIABILITY: setting(
    oneOf(["platform", "provider"]),
    "who bears the part of a chargeback that is no longer in the wallet: `platform` (a recorded loss) or " +
      "`provider` (first the providers' maturing earnings from that consumer since the load)",
    "platform"
  ),
  NEW_ACCOUNT_LOAD_CENTS_PER_DAY: setting(
    whole(0, 100_000_000),
    "limit of an account's loads in 24 hours during its first 30 days, in cents, open checkouts included. 0: no " +
      "limit. Default: `100000` with `PAYMENTS=stripe`, no limit in a dry run"
  ),
  SMTP_URL: secretSetting(
    redactedUrl(["smtp:", "smtps:"]),
    "mail server, such as `smtp://user:password@mail.example.org:587`. Without one the embedded profile writes " +
      "mail to DATA_DIR/outbox, memory writes it to the log, and production cannot verify mailboxes"
  ),
  MAIL_FROM: setting(text, "sender of mail", "Agent Tool Billing <noreply@localhost>"),
  DNS_SERVERS: setting(
    text,
    "name servers for the verification of domains, as address:port, comma-separated. Default: those of the system"
  ),
  ALLOW_UPSTREAM: setting(
    upstream,
    "addresses that the proxy may call: `public`, `loopback` (public and loopback; default of memory and " +
      "embedded), or CIDR ranges and host names. Default in production: `public`"
  ),
  UPSTREAM_TIMEOUT_MS: setting(
    whole(100, 60_000),
    "time limit of one attempt to call a tool that declares none",
    "10000"
  ),
  UPSTREAM_PROGRESS_MS_MAX: setting(
    whole(10_000, 900_000),
    "how long a call may take whose caller asks for progress and whose provider reports it: each report restarts the " +
      "time limit of the attempt",
    "300000"
  ),
  UPSTREAM_RETRIES: setting(whole(0, 5), "retries after a 5xx response of a provider", "1"),
  ANSWER_BYTES_IN_FLIGHT_MAX: setting(
    whole(16_777_216, 17_179_869_184),
    "bytes of large provider responses that a worker of a node holds until their calls are settled. Calls beyond the limit " +
      "get 503 and are not charged",
    "67108864"
  ),
  CALLS_IN_FLIGHT_MAX: setting(
    whole(0, 100_000),
    "forwarded calls in flight of one account on each node, calls whose client disconnected included. 0: no limit",
    "64"
  ),
  TOOLBOX_TOOLS_MAX: setting(whole(1, 200), "tools that the market door lists for a key, besides its own", "40"),
  DEFAULT_FREE_TIER_CALLS: setting(
    whole(0, 1_000_000_000),
    "free calls per consumer, tool and month if the provider sets none",
    "0"
  ),
  PLATFORM_FEE_BASIS_POINTS: setting(
    whole(0, FEE_BASIS_POINTS_MAX),
    "platform fee in basis points (1/100 of a percent) of what a call costs, for providers without a fee of their own. A " +
      "change applies to calls that are held after the restart, without notice",
    "1000"
  ),
  PRICE_NOTICE_HOURS: setting(
    whole(0, 2_160),
    "hours between the announcement of a change that charges consumers more, or of a higher fee of a provider, and the " +
      "time it takes effect. A smaller free tier takes effect in the first month after them. Default: 24, or 0 without " +
      "`PAYMENTS=stripe`. 0: changes apply at once"
  ),
  TOOL_GRACE_HOURS: setting(
    whole(0, 2_160),
    "hours from the first sync in which a provider's MCP server does not list a tool until the tool is withdrawn",
    "24"
  ),
  ENDPOINT_PROBE_MS: setting(
    whole(0, 20_000),
    "time limit for asking a provider's endpoint what it is when it or a tool of it is registered. 0: it is not asked",
    "3000"
  ),
  RATE_LIMIT_RPM: setting(
    whole(0, 1_000_000),
    "requests a minute of a consumer that requested no limit. 0: no limit",
    "60"
  ),
  RATE_LIMIT_RPM_MAX: setting(whole(1, 1_000_000), "highest limit that a consumer can request", "6000"),
  RATE_LIMIT_IP_RPM: setting(
    whole(0, 10_000_000),
    "requests a minute of one IP address; 60 of them may have a wrong key. 0: no limit",
    "600"
  ),
  RATE_LIMIT_REGISTER_RPM: setting(whole(0, 1_000_000), "registrations a minute of one IP address. 0: no limit", "30"),
  TRUST_PROXY: setting(proxies, "addresses and CIDR ranges of proxies whose `X-Forwarded-For` header is trusted"),
  CONNECTIONS_PER_ADDRESS_MAX: ofCommand(
    setting(
      whole(0, 10_000),
      "open connections of one IP address (IPv6: of one /64) on each node. Further connections replace idle ones. " +
        "Addresses in TRUST_PROXY are exempt. 0: no limit",
      "1000"
    )
  ),
  REDIS_URL: secretSetting(redactedUrl(["redis:", "rediss:"]), "Redis that shares rate limits between nodes"),
  REQUEST_TIMEOUT_MS: setting(
    whole(100, 600_000),
    "time limit of a request. A proxied call has it once until it is forwarded, and once for its settlement",
    "30000"
  ),
  SHUTDOWN_NOTICE_MS: ofCommand(
    setting(
      whole(0, 600_000),
      "time that a service which stops still accepts requests: `/readyz` returns 503, and each response closes its " +
        "connection. Ends earlier when no connection is open. More than your load balancer's check interval",
      "2000"
    )
  ),
  SHUTDOWN_GRACE_MS: ofCommand(
    setting(whole(0, 600_000), "time that requests in flight have to complete when the service stops", "10000")
  ),
  LOG_LEVEL: ofCommand(
    setting(oneOf(["Debug", "Info", "Warn", "Error", "None"]), "lowest severity that is logged", "Info")
  ),
  LOG_FORMAT: ofCommand(setting(oneOf(["pretty", "json"]), "`pretty` for people, `json` for machines", "pretty")),
  ACCESS_LOG_RATIO: ofCommand(
    setting(
      ratio,
      "share of successful requests that leave a line in the log, 0 to 1, at most 100 a second per node. Responses with a " +
        "problem are logged whatever this is",
      "0.1"
    )
  ),
  OTLP_URL: ofCommand(
    secretSetting(
      collector,
      "OpenTelemetry collector for logs and sampled traces (OTLP over HTTP), such as `http://127.0.0.1:4318`. " +
        "`OTEL_EXPORTER_OTLP_ENDPOINT` and `OTEL_EXPORTER_OTLP_HEADERS` are read as well"
    )
  ),
  OTLP_HEADERS: ofCommand(secretSetting(headers, "headers for the collector, as `name=value`, comma-separated")),
  OTLP_TRACES_RATIO: ofCommand(
    setting(
      ratio,
      "share of requests that is traced, 0 to 1, at most 100 a second per node. In addition, up to 5 a second whose " +
        "client requests it (`traceparent`)",
      "0.01"
    )
  )
} as const

export type SettingName = keyof typeof settings
export type SettingValue<N extends SettingName> = (typeof settings)[N] extends Setting<infer A, infer _F> ? A : never

/** The settings that are options of `service()`. */
export type ServiceSettingName = {
  [N in SettingName]: (typeof settings)[N] extends { readonly onlyCommand: true } ? never : N
}[SettingName]
