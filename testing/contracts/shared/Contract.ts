/**
 * What every adapter of a port must do, as named effects: run each of them with your adapter, in any test runner. A rule
 * dies with an AssertionError where the adapter does not keep it. Rules share nothing but the adapter: all of them
 * may run one after the other on one empty database.
 */
import { Effect, Layer } from "effect"
import * as NodeDigest from "../../../adapters/crypto/NodeDigest.ts"
import * as NodeEntropy from "../../../adapters/crypto/NodeEntropy.ts"
import type { Digest, Entropy } from "../../../domain/shared/Cryptography.ts"

/** One rule of a contract. Name your test by the title, and run the check with your adapter provided. */
export interface Rule<Ports> {
  readonly title: string
  readonly check: Effect.Effect<void, never, Ports>
}

export type Contract<Ports> = ReadonlyArray<Rule<Ports>>

const samples = Layer.merge(NodeDigest.layer, NodeEntropy.layer)

/** A rule takes ids for its samples from Entropy: new ones at every run. */
export const rule = <E, Ports>(
  title: string,
  check: Effect.Effect<void, E, Ports>
): Rule<Exclude<Ports, Digest | Entropy>> => ({ title, check: Effect.orDie(Effect.provide(check, samples)) })
