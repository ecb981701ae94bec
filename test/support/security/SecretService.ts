/**
 * The service in a process of its own with a canary in every configured secret, beside a database that can be cut
 * off, a mail server that requires a password, a payment processor, a collector of traces and logs, and a provider
 * that repeats its headers.
 */
import { Effect, Redacted } from "effect"
import type { AddressInfo } from "node:net"
import { SMTPServer } from "smtp-server"
import { DatabaseLink } from "../servers/DatabaseLink.ts"
import { json, result, scriptedServer, text } from "../../../testing/mcp/ScriptedServer.ts"
import { ready } from "../servers/ServiceProcess.ts"
import { collector } from "../telemetry/Collector.ts"
import { StripeDouble } from "../../../testing/stripe/StripeDouble.ts"
import { nameServer } from "../trust/NameServer.ts"
import { aCanary, type Canaries } from "./Canaries.ts"

export const aSecretService = Effect.fnUntraced(function* (canaries: Canaries, format: "json" | "pretty") {
  const link = yield* DatabaseLink
  const mail = yield* mailServer(canaries)
  const settings = { ...secretSettings(canaries), ...OPEN }
  const keys = { secretKey: settings.STRIPE_SECRET_KEY, webhookSecret: settings.STRIPE_WEBHOOK_SECRET }
  const watcher = yield* collector
  const stripe = yield* Effect.acquireRelease(
    Effect.promise(() => StripeDouble.start(keys)),
    (double) => Effect.promise(() => double.stop())
  )
  const service = yield* ready({
    ...settings,
    DATABASE_URL: plantPassword(canaries, "the database's password", Redacted.value(link.url)),
    MIGRATION_DATABASE_URL: plantPassword(canaries, "the password of the database's owner", Redacted.value(link.url)),
    STRIPE_API_BASE: stripe.url,
    SMTP_URL: mail.url,
    DNS_SERVERS: yield* nameServer(new Map()),
    OTLP_URL: `${watcher.url}/${canaries.plant("a collector's address", aCanary())}`,
    OTLP_TRACES_RATIO: "1",
    LOG_FORMAT: format
  })
  return {
    service,
    link,
    mail,
    stripe,
    watcher,
    provider: yield* repeatingProvider(canaries),
    operator: settings.OPERATOR_KEY,
    metricsToken: settings.METRICS_TOKEN
  }
})

const OPEN = {
  PAYMENTS: "stripe",
  ALLOW_UPSTREAM: "127.0.0.0/8",
  RATE_LIMIT_RPM: "0",
  RATE_LIMIT_IP_RPM: "0",
  RATE_LIMIT_REGISTER_RPM: "0",
  LOG_LEVEL: "Debug",
  SHUTDOWN_GRACE_MS: "1000"
}

/** Those that are not part of a URL. */
export const secretSettings = (canaries: Canaries) => ({
  RECEIPT_SIGNING_SECRET: canaries.plant("the receipts' secret", aCanary()),
  RECEIPT_SIGNING_SECRETS_OLD: `${canaries.plant("an old secret", aCanary())},${canaries.plant("an older one", aCanary())}`,
  LOG_SIGNING_KEY: canaries.plant("the log's key", aCanary() + "0".repeat(16)),
  OPERATOR_KEY: canaries.plant("the operator's key", aCanary()),
  METRICS_TOKEN: canaries.plant("the token of the metrics", aCanary()),
  STRIPE_SECRET_KEY: canaries.plant("the payment processor's key", `sk_test_${aCanary()}`),
  STRIPE_WEBHOOK_SECRET: canaries.plant("the webhooks' secret", `whsec_${aCanary()}`),
  OTLP_HEADERS: `authorization=Bearer ${canaries.plant("the collector's key", aCanary())}`
})

/** The password of a URL, as a canary. */
export const plantPassword = (canaries: Canaries, what: string, url: string): string => {
  canaries.plant(what, decodeURIComponent(new URL(url).password))
  return url
}

/** Answers in a session whose id is a canary, and repeats in its error every header that it was sent. */
const repeatingProvider = (canaries: Canaries) => {
  const session = canaries.plant("the session with a provider", aCanary())
  return scriptedServer({
    era: "stateful",
    onOther: (seen, response) => {
      if (seen.method !== "initialize") return false
      const answer = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "telling", version: "1" } }
      json(response, result(seen, answer), 200, { "mcp-session-id": session })
      return true
    },
    onCall: (seen, response, n) =>
      n % 2 === 1
        ? json(response, result(seen, text("fine")))
        : json(response, { error: "broken", headers: { ...seen.headers, "mcp-session-id": undefined } }, 500)
  })
}

/** Accepts one password, and repeats any other in its error. */
const mailServer = (canaries: Canaries) =>
  Effect.gen(function* () {
    const password = canaries.plant("the mail server's password", aCanary())
    const kept = { url: "", refusing: false, letters: [] as Array<string> }
    const server = yield* Effect.acquireRelease(
      Effect.callback<SMTPServer>((resume) => {
        const made = new SMTPServer({
          disabledCommands: ["STARTTLS"],
          allowInsecureAuth: true,
          onAuth: (given, _session, done) =>
            kept.refusing || given.password !== password
              ? done(new Error("535 these credentials are not known"))
              : done(null, { user: "market" }),
          onData: (stream, _session, done) => {
            let letter = ""
            stream.on("data", (chunk: Buffer) => (letter += chunk.toString("utf8")))
            stream.on("end", () => {
              kept.letters.push(letter.replaceAll("=\r\n", "").replaceAll("=3D", "="))
              done()
            })
          }
        })
        made.listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
      }),
      (made) => Effect.callback<void>((resume) => void made.close(() => resume(Effect.void)))
    )
    const { port } = server.server.address() as AddressInfo
    return Object.assign(kept, { url: `smtp://market:${password}@127.0.0.1:${port}` })
  })
