/**
 * The secrets that receipts and the log are signed with: given by configuration, or the embedded profile's own.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, Redacted } from "effect"
import * as NodeEntropy from "../../adapters/crypto/NodeEntropy.ts"
import * as NodeLogSigner from "../../adapters/crypto/NodeLogSigner.ts"
import { Entropy } from "../../domain/shared/Entropy.ts"
import { type AppConfig, valueOf } from "../config/AppConfig.ts"
import { localSecret } from "../config/LocalSecrets.ts"

const RECEIPT_SECRET_FILE = "receipt-signing-secret"
const LOG_KEY_FILE = "log-signing-key"

/** What was not given: for one life in memory, else made once and kept. */
const ownSecret = (config: AppConfig, file: string) =>
  config.profile === "memory"
    ? Effect.map(
        Effect.flatMap(Entropy, (entropy) => entropy.hex(32)),
        (text) => Redacted.make(text)
      )
    : localSecret(valueOf(config, "DATA_DIR"), file)

export const signingSecrets = Effect.fnUntraced(function* (config: AppConfig) {
  const [first, ...older] = config.signingSecrets
  if (first !== undefined) return [first, ...older] as const
  return [yield* ownSecret(config, RECEIPT_SECRET_FILE)] as const
})

export const logSigner = (config: AppConfig) =>
  Layer.unwrap(
    Effect.map(
      config.LOG_SIGNING_KEY === undefined ? ownSecret(config, LOG_KEY_FILE) : Effect.succeed(config.LOG_SIGNING_KEY),
      NodeLogSigner.layer
    )
  ).pipe(Layer.provide(NodeEntropy.layer), Layer.provide(NodeServices.layer))
