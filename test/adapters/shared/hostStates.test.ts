/**
 * Which of several hosts is the primary.
 */
import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import type { DatabaseHost } from "../../../adapters/sql/primary/DatabaseUrl.ts"
import {
  describeHosts,
  differentClusters,
  type HostState,
  type Known,
  primaryAmong
} from "../../../adapters/sql/primary/PrimaryWatch.ts"

const host = (name: string): DatabaseHost => ({ name, host: name, port: 5432, url: Redacted.make(name) })
const [one, two] = [host("one"), host("two")]
const unknown: Known = { current: undefined, timeline: 0, cluster: undefined }

const writable = (timeline: number, cluster: string | undefined = "7"): HostState => ({
  _tag: "Available",
  isWritable: true,
  timeline,
  cluster
})
const standby: HostState = { _tag: "Available", isWritable: false, timeline: 0, cluster: "7" }
const away: HostState = { _tag: "Unavailable", problem: "connect ECONNREFUSED" }
const chosen = (first: HostState, second: HostState, known: Known = unknown) =>
  primaryAmong(
    new Map([
      [one, first],
      [two, second]
    ]),
    known
  )?.host

describe("the primary among several hosts", () => {
  it("is the one that accepts writes", () => {
    assert.strictEqual(chosen(standby, writable(1)), two)
    assert.strictEqual(chosen(away, writable(1)), two)
    assert.isUndefined(chosen(standby, away))
  })

  it("is the one that was promoted last, also while the one before still accepts writes", () => {
    assert.strictEqual(chosen(writable(1), writable(2)), two)
    assert.strictEqual(chosen(writable(1), writable(2), { current: one, timeline: 1, cluster: "7" }), two)
  })

  it("is never one with a lower timeline than the last one had", () => {
    assert.isUndefined(chosen(writable(1), away, { current: two, timeline: 2, cluster: "7" }))
  })

  it("stays the same where timelines are equal or unknown", () => {
    assert.strictEqual(chosen(writable(0), writable(0), { current: two, timeline: 0, cluster: "7" }), two)
    assert.strictEqual(chosen(writable(3), writable(3)), one)
  })

  it("is never one with other data", () => {
    assert.isUndefined(chosen(away, writable(9, "8"), { current: one, timeline: 1, cluster: "7" }))
    assert.strictEqual(chosen(away, writable(9, undefined), { current: one, timeline: 1, cluster: "7" }), two)
    const states = new Map<DatabaseHost, HostState>([
      [one, writable(1)],
      [two, writable(1, "8")]
    ])
    assert.deepStrictEqual(differentClusters(states), ["one", "two"])
  })

  it("is described with the reason for each host", () => {
    const states = new Map<DatabaseHost, HostState>([
      [one, standby],
      [two, away]
    ])
    assert.strictEqual(
      describeHosts(states),
      "one is a standby, or read-only; two is not available (connect ECONNREFUSED)"
    )
  })
})
