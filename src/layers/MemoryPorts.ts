/**
 * Every port of the core except `ToolUpstream`, without external systems: stores on plain Maps, new secrets, simulated
 * payments, no mail, no published proofs, no MCP servers, local addresses. For tests, and for programs that replace single ports: a
 * layer that is provided before these takes precedence.
 */
import { Effect, Layer, Redacted } from "effect"
import * as NodeDigest from "../../adapters/crypto/NodeDigest.ts"
import * as NodeEntropy from "../../adapters/crypto/NodeEntropy.ts"
import * as NodeLogSigner from "../../adapters/crypto/NodeLogSigner.ts"
import * as NodeReceiptSigner from "../../adapters/crypto/NodeReceiptSigner.ts"
import * as NodeSealer from "../../adapters/crypto/NodeSealer.ts"
import * as LazyJsonSchemas from "../../adapters/jsonschema/LazyJsonSchemas.ts"
import { noMailer, noProviderServers, nothingPublished } from "../../adapters/memory/shared/UnconnectedPorts.ts"
import * as DryRunGateway from "../../adapters/payments/DryRunGateway.ts"
import { LogHome } from "../../domain/log/Sequencer.ts"
import { CheckoutReturn } from "../../domain/payments/Loads.ts"
import { Entropy } from "../../domain/shared/Cryptography.ts"
import { memoryStores } from "./MemoryStores.ts"

const SECRET_BYTES = 32

const secrets = Layer.unwrap(
  Effect.gen(function* () {
    const { hex } = yield* Entropy
    const ring = [Redacted.make(yield* hex(SECRET_BYTES))] as const
    return Layer.mergeAll(
      NodeSealer.layer(ring),
      NodeReceiptSigner.layer(ring),
      NodeLogSigner.layer(Redacted.make(yield* hex(SECRET_BYTES)))
    )
  })
)

/** They suit a log that no other party reads, and simulated payments. */
const addresses = Layer.merge(
  Layer.succeed(LogHome, "localhost/log"),
  Layer.succeed(CheckoutReturn, { successUrl: "http://localhost/paid", cancelUrl: "http://localhost/canceled" })
)

export const memoryPorts = Layer.mergeAll(
  memoryStores,
  secrets,
  addresses,
  LazyJsonSchemas.layer,
  DryRunGateway.layer,
  noMailer,
  noProviderServers,
  nothingPublished
).pipe(Layer.provideMerge(Layer.merge(NodeDigest.layer, NodeEntropy.layer)))
