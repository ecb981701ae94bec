/**
 * Every setting there is: its name, what it means, how its text is read, and what holds without it. The README's table
 * and `config` are made from this list.
 */
import type { Schema } from "effect"
import {
  collector,
  headers,
  httpUrl,
  oneOf,
  proxies,
  ratio,
  redactedText,
  redactedUrl,
  secret,
  seed,
  text,
  upstream,
  whole
} from "./SettingValues.ts"

export interface Setting<A, F extends string | undefined> {
  readonly schema: Schema.ConstraintDecoder<A>
  readonly meaning: string
  /** As text; undefined: the setting is absent unless given. */
  readonly fallback: F
  readonly secret: boolean
}

const setting = <A, const F extends string | undefined>(
  schema: Schema.ConstraintDecoder<A>,
  meaning: string,
  fallback: F,
  options: { readonly secret?: boolean } = {}
): Setting<A, F> => ({ schema, meaning, fallback, secret: options.secret ?? false })

export const settings = {
  PROFILE: setting(
    oneOf(["memory", "embedded", "production"]),
    "`memory` (no database), `embedded` (a PostgreSQL in DATA_DIR), `production` (DATABASE_URL). " +
      "`production` when DATABASE_URL is set, else `embedded`",
    undefined
  ),
  HOST: setting(text, "address to listen on", "127.0.0.1"),
  PORT: setting(whole(0, 65_535), "port to listen on", "3000"),
  BASE_URL: setting(httpUrl, "where the service is reached from outside; derived from HOST and PORT", undefined),
  DATA_DIR: setting(text, "the embedded database and generated secrets (mode 0600)", "./data"),
  DATABASE_URL: setting(redactedUrl(["postgres:", "postgresql:"]), "PostgreSQL 15 or newer", undefined, {
    secret: true
  }),
  MIGRATION_DATABASE_URL: setting(
    redactedUrl(["postgres:", "postgresql:"]),
    "the same database as the role that owns its tables: it migrates, and lets the role of DATABASE_URL change no " +
      "transfers, receipts or invoices; the role of DATABASE_URL migrates if left out",
    undefined,
    { secret: true }
  ),
  DATABASE_CONNECTIONS_MAX: setting(whole(2, 500), "connections in the pool", "10"),
  RECEIPT_SIGNING_SECRET: setting(
    secret,
    "signs receipts; generated once and kept in DATA_DIR by the embedded profile, needed by production",
    undefined,
    { secret: true }
  ),
  RECEIPT_SIGNING_SECRETS_OLD: setting(text, "earlier secrets, comma-separated: they still verify", undefined, {
    secret: true
  }),
  LOG_SIGNING_KEY: setting(
    seed,
    "the Ed25519 seed that signs the transparency log: 64 hex digits; generated once and kept in DATA_DIR by the " +
      "embedded profile, needed by production. A new one begins a new log",
    undefined,
    { secret: true }
  ),
  LOG_STATE_FILE: setting(
    text,
    "keeps the last signed tree of the log, on a disk that outlives the database; `DATA_DIR/log-signed-tree` when embedded",
    undefined
  ),
  OPERATOR_KEY: setting(secret, "enables the operator's endpoints", undefined, { secret: true }),
  METRICS_TOKEN: setting(
    secret,
    "who sends it as `Authorization: Bearer` may read `/metrics`. Without one, memory and embedded show it to everybody, " +
      "production to nobody",
    undefined,
    { secret: true }
  ),
  PAYMENTS: setting(
    oneOf(["dry_run", "stripe"]),
    "`dry_run`: money is simulated and nobody is paid (the default of memory and embedded); `stripe`. Production does not " +
      "start without one of them. A database holds the money of one mode and one account at the processor, written down with " +
      "its first movement; a node of another mode or account does not start on it",
    undefined
  ),
  STRIPE_SECRET_KEY: setting(redactedText, "needed with `PAYMENTS=stripe`", undefined, { secret: true }),
  STRIPE_WEBHOOK_SECRET: setting(redactedText, "by which Stripe's webhooks are believed; needed likewise", undefined, {
    secret: true
  }),
  STRIPE_API_BASE: setting(httpUrl, "another place than Stripe's own: a double for trying out", undefined),
  PAYOUT_DELAY_DAYS: setting(
    whole(0, 365),
    "full days after the day of a call before its earnings can be paid out: 7; 0 in a dry run",
    undefined
  ),
  PAYOUT_DELAY_DAYS_NEW: setting(
    whole(0, 365),
    "the same for what a provider earns in its first 90 days: 30; 0 in a dry run",
    undefined
  ),
  RESERVE_PERCENT: setting(
    whole(0, 100),
    "the rolling reserve: the share of each day's earnings that is kept back against disputes and chargebacks: 10; 0 in a " +
      "dry run",
    undefined
  ),
  RESERVE_DAYS: setting(whole(0, 365), "for so many days: 90; 0 in a dry run", undefined),
  REFUND_LOSS_LIMIT_CENTS: setting(
    whole(0, 1_000_000_000),
    "what the platform advances from its own funds, in all, for refunds that providers cannot pay yet",
    "0"
  ),
  CHARGEBACK_LIABILITY: setting(
    oneOf(["platform", "provider"]),
    "what is charged back and no longer in the wallet: `platform`, a recorded loss; `provider`, first the providers' maturing " +
      "earnings from that consumer since the load",
    "platform"
  ),
  NEW_ACCOUNT_LOAD_CENTS_PER_DAY: setting(
    whole(0, 100_000_000),
    "the most that an account loads in 24 hours during its first 30 days, in cents, open checkouts included; 0: no limit. " +
      "`100000` with `PAYMENTS=stripe`, no limit in a dry run",
    undefined
  ),
  SMTP_URL: setting(
    redactedUrl(["smtp:", "smtps:"]),
    "the mail server, such as `smtp://user:password@mail.example.org:587`. Without one the embedded profile writes mail to " +
      "DATA_DIR/outbox, memory to the log; production then cannot verify mailboxes",
    undefined,
    { secret: true }
  ),
  MAIL_FROM: setting(text, "the sender of mail", "Agent Tool Billing <noreply@localhost>"),
  DNS_SERVERS: setting(
    text,
    "name servers that are asked for providers' proofs, as address:port, comma-separated",
    undefined
  ),
  ALLOW_UPSTREAM: setting(
    upstream,
    "what the proxy may call: `public`, `loopback` (adds loopback; memory and embedded do so by themselves), or CIDR " +
      "ranges and host names",
    undefined
  ),
  UPSTREAM_TIMEOUT_MS: setting(whole(100, 60_000), "time for one attempt, where the tool says nothing else", "10000"),
  UPSTREAM_RETRIES: setting(whole(0, 5), "retries after a 5xx of the provider", "1"),
  ANSWER_BYTES_IN_FLIGHT_MAX: setting(
    whole(16_777_216, 17_179_869_184),
    "bytes of providers' large answers that a node holds at once, until their calls are settled; calls beyond are " +
      "answered with 503 and not charged",
    "67108864"
  ),
  CALLS_IN_FLIGHT_MAX: setting(
    whole(0, 100_000),
    "forwarded calls that an account may have in flight on each node, those it no longer waits for included; 0: no limit",
    "64"
  ),
  DEFAULT_FREE_TIER_CALLS: setting(
    whole(0, 1_000_000_000),
    "free calls per consumer, tool and month where the provider set none",
    "0"
  ),
  PRICE_NOTICE_HOURS: setting(
    whole(0, 2_160),
    "hours between the announcement of a change that charges consumers more and the time it takes effect; a smaller " +
      "free tier starts with the first month after them. 24, or 0 without `PAYMENTS=stripe`; 0: changes apply at once",
    undefined
  ),
  RATE_LIMIT_RPM: setting(
    whole(0, 1_000_000),
    "requests a minute of a consumer that asked for nothing; 0: no limit",
    "60"
  ),
  RATE_LIMIT_RPM_MAX: setting(whole(1, 1_000_000), "the most that a consumer may ask for", "6000"),
  RATE_LIMIT_IP_RPM: setting(whole(0, 10_000_000), "requests a minute of an address; 0: no limit", "600"),
  RATE_LIMIT_REGISTER_RPM: setting(whole(0, 1_000_000), "registrations a minute of an address; 0: no limit", "30"),
  TRUST_PROXY: setting(proxies, "addresses and CIDR ranges whose forwarded-for header is believed", undefined),
  CONNECTIONS_PER_ADDRESS_MAX: setting(
    whole(0, 10_000),
    "open connections of one address (of an IPv6 address: of its /64) on each node; further ones replace idle ones. " +
      "Addresses in TRUST_PROXY are exempt; 0: no limit",
    "1000"
  ),
  REDIS_URL: setting(redactedUrl(["redis:", "rediss:"]), "shares rate limits between nodes", undefined, {
    secret: true
  }),
  REQUEST_TIMEOUT_MS: setting(
    whole(100, 600_000),
    "time for a request; a proxied call has it until it is forwarded, and again for its settlement",
    "30000"
  ),
  SHUTDOWN_GRACE_MS: setting(whole(0, 600_000), "how long calls under way may take to end at a stop", "10000"),
  LOG_LEVEL: setting(oneOf(["Debug", "Info", "Warn", "Error", "None"]), "least severe lines that are logged", "Info"),
  LOG_FORMAT: setting(oneOf(["pretty", "json"]), "for people or for machines", "pretty"),
  OTLP_URL: setting(
    collector,
    "an OpenTelemetry collector that takes OTLP over HTTP, such as `http://127.0.0.1:4318`: logs and sampled traces go " +
      "there, too. `OTEL_EXPORTER_OTLP_ENDPOINT` and `OTEL_EXPORTER_OTLP_HEADERS` are read as well",
    undefined,
    { secret: true }
  ),
  OTLP_HEADERS: setting(
    headers,
    "headers for the collector, as `name=value`, comma-separated: what a vendor knows its customers by",
    undefined,
    { secret: true }
  ),
  OTLP_TRACES_RATIO: setting(
    ratio,
    "the share of requests that is traced, 0 to 1, at most 100 a second of a node; beside it 5 a second of those that ask " +
      "to be (`traceparent`)",
    "0.01"
  )
} as const

export type SettingName = keyof typeof settings
export type SettingValue<N extends SettingName> = (typeof settings)[N] extends Setting<infer A, infer _F> ? A : never
