/**
 * Nodes of a log with their keys, and receipts for it.
 */
import { Effect, Layer, Redacted } from "effect"
import { createHmac, hash } from "node:crypto"
import * as NodeDigest from "../../../adapters/crypto/NodeDigest.ts"
import * as NodeLogSigner from "../../../adapters/crypto/NodeLogSigner.ts"
import * as NodeReceiptSigner from "../../../adapters/crypto/NodeReceiptSigner.ts"
import type { AccountStore } from "../../../domain/accounts/Account.ts"
import type { CatalogStore } from "../../../domain/catalog/CatalogStore.ts"
import type { Ledger } from "../../../domain/ledger/Ledger.ts"
import { LogCheck } from "../../../domain/log/LogCheck.ts"
import type { LogStore } from "../../../domain/log/LogStore.ts"
import { LogSuccession } from "../../../domain/log/LogSuccession.ts"
import { ReceiptLog } from "../../../domain/log/ReceiptLog.ts"
import { LogHome, makeSequencer, Sequencer } from "../../../domain/log/Sequencer.ts"
import { canonical, type Receipt, Receipts, type ReceiptStore } from "../../../domain/receipts/Receipts.ts"
import type { Digest, Entropy } from "../../../domain/shared/Cryptography.ts"
import { aProvider } from "./AccountSamples.ts"
import type { Books } from "./CallSamples.ts"
import { rule } from "./Contract.ts"
import { consumerWith, overStores } from "./LedgerSamples.ts"
import { aListedTool, called } from "./ToolSamples.ts"

/** The log, with the accounts, tools and calls whose receipts it takes. */
export type LogStores = LogStore | AccountStore | CatalogStore | ReceiptStore | Books

export const BATCH_MAX = 1_024
export const AT = "2026-11-20T10:00:00.000Z"
const SECRET = [Redacted.make("the secret of the log's tests")] as const

const home = Layer.succeed(LogHome, "localhost/log")

/** A rule about the log over the stores. */
export const logRule = <E>(
  title: string,
  check: Effect.Effect<void, E, LogStores | Ledger | LogHome | Digest | Entropy>
) => rule<E, LogStores | Digest | Entropy>(title, Effect.provide(check, Layer.merge(overStores, home)))

const signers = (seed: string) =>
  Layer.mergeAll(NodeLogSigner.layer(Redacted.make(seed.repeat(32))), NodeReceiptSigner.layer(SECRET), NodeDigest.layer)

/** The services of one node; each build is another node on the same store. */
export const aNode = <A, E, R>(use: Effect.Effect<A, E, R>, seed = "5e") =>
  Effect.provide(
    use,
    Layer.fresh(
      Layer.mergeAll(
        Layer.effect(Sequencer, makeSequencer({ batchMax: BATCH_MAX })),
        ReceiptLog.layer,
        LogCheck.layer,
        LogSuccession.layer
      )
    ).pipe(Layer.provide(Layer.fresh(Receipts.layer.pipe(Layer.provideMerge(signers(seed))))))
  )

export const sequenceAll = Effect.gen(function* () {
  const { sequence } = yield* Sequencer
  let total = 0
  for (let taken = yield* sequence; taken > 0; taken = yield* sequence) total += taken
  return total
})

const hmac = (one: Omit<Receipt, "signature">) =>
  createHmac("sha256", Redacted.value(SECRET[0])).update(canonical(one)).digest("hex")

export const sha256 = (bytes: Uint8Array) => hash("sha256", bytes, "buffer")

export const check = Effect.flatMap(LogCheck, (one) => one.check)

/** Completed calls of one consumer. */
export const receipts = Effect.fnUntraced(function* (count: number) {
  const consumerId = yield* consumerWith(1_000_000)
  const tool = yield* aListedTool(yield* aProvider(), "logged")
  const made: Array<Receipt> = []
  for (let n = 0; n < count; n++) {
    made.push((yield* called(consumerId, tool, AT, { sign: hmac })).receipt)
  }
  return made
})
