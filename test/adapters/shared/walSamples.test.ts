/**
 * How far a read replica is behind, from positions in the log of the primary.
 */
import { assert, describe, it } from "@effect/vitest"
import { makeWalSamples } from "../../../adapters/sql/replica/ReplicaWatch.ts"
import { makeReadReplica } from "../../../domain/platform/ReadReplica.ts"

const sampled = (...samples: ReadonlyArray<readonly [atMs: number, position: bigint]>) => {
  const known = makeWalSamples(10_000)
  for (const [atMs, position] of samples) known.add({ atMs, position })
  return known
}

describe("positions of the primary", () => {
  it("are as old as the newest one that was replayed", () => {
    const known = sampled([1_000, 10n], [2_000, 20n], [3_000, 30n])
    assert.strictEqual(known.asOfMs(9n), undefined)
    assert.strictEqual(known.asOfMs(10n), 1_000)
    assert.strictEqual(known.asOfMs(29n), 2_000)
    assert.strictEqual(known.asOfMs(31n), 3_000)
  })

  it("of an idle primary are not late", () => {
    assert.strictEqual(sampled([1_000, 10n], [2_000, 10n], [9_000, 10n]).asOfMs(10n), 9_000)
  })

  it("may start again lower after a failover", () => {
    assert.strictEqual(sampled([1_000, 90n], [2_000, 40n]).asOfMs(50n), 2_000)
  })

  it("are forgotten after the window", () => {
    assert.strictEqual(sampled([1_000, 10n], [11_001, 20n]).asOfMs(15n), undefined)
  })
})

describe("a read replica", () => {
  it("is used up to the limit, and not while nothing is heard of it", () => {
    let nowMs = 100_000
    const replica = makeReadReplica(5_000, () => nowMs)
    assert.isFalse(replica.isFresh())
    replica.found({ name: "db2:5432", asOfMs: 99_000 })
    assert.strictEqual(replica.lagMs(), 1_000)
    assert.isTrue(replica.isFresh())
    nowMs = 104_000
    assert.isTrue(replica.isFresh())
    nowMs = 104_001
    assert.isFalse(replica.isFresh())
    replica.found({ name: "db2:5432", asOfMs: 104_000 })
    assert.isTrue(replica.isFresh())
    replica.found(undefined)
    assert.isFalse(replica.isFresh())
    assert.strictEqual(replica.lagMs(), 1)
  })

  it("has its reads counted by the server that answered", () => {
    const replica = makeReadReplica(5_000, () => 0)
    replica.count("replica")
    replica.count("primary")
    replica.count("primary")
    assert.deepStrictEqual([replica.reads("replica"), replica.reads("primary")], [1, 2])
  })
})
