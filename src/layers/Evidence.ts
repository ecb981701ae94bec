/**
 * Adapters for the verification of providers: mail, and published proofs.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer } from "effect"
import * as NodeEntropy from "../../adapters/crypto/NodeEntropy.ts"
import * as PublishedProofs from "../../adapters/dns/PublishedProofs.ts"
import * as OutboxMailer from "../../adapters/mail/OutboxMailer.ts"
import { makeGuardedFetch } from "../../adapters/mcp/egress/GuardedFetch.ts"
import { noMailer } from "../../adapters/memory/shared/UnconnectedPorts.ts"
import { type AppConfig, valueOf } from "../config/AppConfig.ts"
import { listOf } from "../config/SettingValues.ts"
import { needing } from "./OptionalPackages.ts"
import { upstreamPolicy } from "./Policies.ts"

const CONNECT_TIMEOUT_MS = 3_000

export const mailer = (config: AppConfig) => {
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

export const proofs = (config: AppConfig) =>
  Layer.unwrap(
    Effect.map(makeGuardedFetch({ policy: upstreamPolicy(config), connectTimeoutMs: CONNECT_TIMEOUT_MS }), (fetch) =>
      PublishedProofs.layer({ fetch, dnsServers: listOf(config.DNS_SERVERS ?? "") })
    )
  )
