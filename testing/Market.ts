/**
 * The whole core in memory, for one test: every service, with ids and secrets from a seed, scripted tools and a scripted
 * payment processor. Nothing leaves the process, and no background job runs.
 */
import { Duration, Layer, Redacted } from "effect"
import * as NodeLogSigner from "../adapters/crypto/NodeLogSigner.ts"
import * as NodeReceiptSigner from "../adapters/crypto/NodeReceiptSigner.ts"
import * as NodeSealer from "../adapters/crypto/NodeSealer.ts"
import { CATALOG_POLICY, CatalogPolicy } from "../domain/catalog/Terms.ts"
import {
  CurrentEarningsPolicy,
  DRY_RUN_EARNINGS_POLICY,
  type EarningsPolicy
} from "../domain/earnings/EarningStates.ts"
import { core } from "../src/layers/Core.ts"
import { memoryPorts } from "../src/layers/MemoryPorts.ts"
import * as ScriptedGateway from "./ScriptedGateway.ts"
import * as ScriptedUpstream from "./ScriptedUpstream.ts"
import * as SeededEntropy from "./SeededEntropy.ts"

/** What a test decides of its market. Without options earnings are available and prices change at once. */
export interface MarketOptions {
  /** The same seed gives the same ids, keys and secrets. Default: 1. */
  readonly seed?: number
  /** How long earnings wait before a payout, and what is reserved. Default: they do not wait. */
  readonly earnings?: EarningsPolicy
  /** Free calls per month of tools that declare none. Default: 0. */
  readonly freeTierCalls?: number
  /** Between the announcement of a higher price and its effect. Default: none. */
  readonly priceNotice?: Duration.Input
}

const RING = [Redacted.make("the signing secret of a market under test")] as const

const secrets = Layer.mergeAll(
  NodeSealer.layer(RING),
  NodeReceiptSigner.layer(RING),
  NodeLogSigner.layer(Redacted.make("5eed".repeat(16)))
)

/** A layer with every service of the core in memory. Each value is a market of its own, with its own stores. */
export const market = ({
  earnings = DRY_RUN_EARNINGS_POLICY,
  freeTierCalls = 0,
  priceNotice = Duration.zero,
  seed = 1
}: MarketOptions = {}) =>
  core.pipe(
    Layer.provideMerge(
      Layer.mergeAll(ScriptedGateway.layer, ScriptedUpstream.layer, SeededEntropy.layer(seed), secrets)
    ),
    Layer.provideMerge(memoryPorts),
    Layer.provide([
      Layer.succeed(CurrentEarningsPolicy, earnings),
      Layer.succeed(CatalogPolicy, {
        ...CATALOG_POLICY,
        freeTierCalls,
        priceNotice: Duration.fromInputUnsafe(priceNotice)
      })
    ]),
    Layer.fresh
  )

export type Market = Layer.Success<ReturnType<typeof market>>
