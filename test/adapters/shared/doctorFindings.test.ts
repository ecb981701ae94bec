/**
 * What `doctor` concludes from the facts of a database.
 */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { type DatabaseFacts, judge, judgeHosts, judgeReplicas } from "../../../adapters/sql/doctor/Findings.ts"
import { parseDatabaseUrl } from "../../../adapters/sql/primary/DatabaseUrl.ts"
import type { HostState } from "../../../adapters/sql/primary/PrimaryWatch.ts"

const healthy: DatabaseFacts = {
  database: "billing",
  role: "billing",
  serverVersion: "18.1",
  serverVersionNumber: 180_001,
  collationRecorded: "1",
  collationActual: "1",
  fsync: "on",
  fullPageWrites: "on",
  synchronousCommit: "on",
  synchronousStandbyNames: "ANY 1 (db1, db2)",
  walLevel: "replica",
  isStandby: false,
  maySeeAll: true,
  standbys: 1,
  synchronousStandbys: 1,
  replayLagSeconds: 0.1,
  inactiveSlots: [],
  preparedOld: [],
  connectionLimit: 97,
  unfit: undefined,
  pooler: undefined,
  changeable: [],
  connectionsMax: 10,
  clockSkewMs: -3,
  clockUncertainMs: 1,
  schemaProblem: undefined,
  schemaVersion: 1,
  schemaExpected: 1
}

describe("doctor", () => {
  it("finds nothing wrong with a healthy database", () => {
    assert.isTrue(judge(healthy).every(({ severity }) => severity === "ok"))
  })

  it.each<[string, "warning" | "problem", Partial<DatabaseFacts>, string]>([
    ["version", "problem", { serverVersion: "14.9", serverVersionNumber: 140_009 }, "version 15 or newer"],
    ["fitness", "problem", { unfit: "the encoding" }, "the encoding"],
    ["collation", "problem", { collationActual: "2" }, 'REINDEX DATABASE "billing"'],
    ["append_only", "warning", { changeable: ["receipts"] }, "rows of receipts"],
    ["pooler", "problem", { pooler: "Use pool_mode = session" }, "pool_mode"],
    ["durability", "problem", { fsync: "off" }, "Set fsync to on"],
    ["durability", "problem", { fullPageWrites: "off" }, "Set full_page_writes to on"],
    ["durability", "problem", { synchronousCommit: "off" }, "Set synchronous_commit to on"],
    ["durability", "warning", { synchronousCommit: "local" }, "Set it to on"],
    ["replication", "problem", { isStandby: true }, "Name the primary"],
    ["replication", "problem", { standbys: 0, synchronousStandbys: 0 }, "Start the standby"],
    ["replication", "problem", { synchronousStandbys: 0 }, "Correct the names"],
    [
      "replication",
      "warning",
      { synchronousStandbys: 0, synchronousStandbyNames: "" },
      "Set synchronous_standby_names"
    ],
    ["replication", "warning", { maySeeAll: false, synchronousStandbys: 0 }, "not visible to this role"],
    ["replication", "warning", { replayLagSeconds: 11 }, "11 seconds behind"],
    ["slots", "warning", { inactiveSlots: [{ name: "old", bytes: 1 }] }, "old (1 MiB)"],
    ["slots", "problem", { inactiveSlots: [{ name: "old", bytes: 2 ** 31 }] }, "old (2048 MiB)"],
    ["prepared_transactions", "warning", { preparedOld: ["left"] }, "ROLLBACK PREPARED"],
    ["connections", "problem", { connectionLimit: 12 }, "needs 14 connections"],
    ["clock", "problem", { clockSkewMs: 2_500 }, "2500 ms ahead of"],
    ["clock", "problem", { clockSkewMs: -2_500 }, "2500 ms behind"],
    ["wal_level", "warning", { walLevel: "minimal" }, "Set it to replica"],
    ["schema", "problem", { schemaProblem: "an older line" }, "an older line"],
    ["schema", "warning", { schemaVersion: 0 }, "Run `migrate`"],
    ["schema", "warning", { schemaVersion: 2 }, "Update this node"],
    ["schema", "warning", { schemaVersion: undefined }, "not visible to this role"]
  ])("reports %s as a %s with %j", (check, severity, fault, words) => {
    const found = judge({ ...healthy, ...fault }).filter((one) => one.severity !== "ok")
    assert.deepStrictEqual(
      found.map((one) => [one.check, one.severity]),
      [[check, severity]]
    )
    assert.include(found[0]!.message, words)
  })

  it("accepts a clock that may differ only by the time of the response", () => {
    const found = judge({ ...healthy, clockSkewMs: 2_500, clockUncertainMs: 600 })
    assert.isTrue(found.every(({ severity }) => severity === "ok"))
  })
})

describe("doctor, of several hosts,", () => {
  const hosts = Result.getOrThrow(parseDatabaseUrl("postgres://db1,db2/billing?target_session_attrs=read-write"))
  const primary: HostState = { _tag: "Available", isWritable: true, timeline: 1, cluster: "a" }
  const standby: HostState = { _tag: "Available", isWritable: false, timeline: 0, cluster: "a" }
  const away: HostState = { _tag: "Unavailable", problem: "connect ECONNREFUSED" }

  it.each<[HostState, HostState, string, string]>([
    [primary, standby, "ok", "db2:5432 is a standby"],
    [primary, away, "warning", "db2:5432 is not available (connect ECONNREFUSED). Start the missing host"],
    [standby, away, "problem", "No host is a writable primary"],
    [primary, { ...standby, cluster: "b" }, "problem", "db1:5432 and db2:5432 are not replicas of each other"]
  ])("judges %j and %j as %s", (first, second, severity, words) => {
    const finding = judgeHosts(
      new Map([
        [hosts[0], first],
        [hosts[1]!, second]
      ])
    )
    assert.strictEqual(finding.severity, severity)
    assert.include(finding.message, words)
  })
})

describe("doctor, of read replicas,", () => {
  const standby: HostState = { _tag: "Available", isWritable: false, timeline: 0, cluster: "a" }

  it.each<[HostState, number | undefined, string, string]>([
    [standby, 12, "ok", "db2:5432 (12 ms)"],
    [standby, undefined, "warning", "db2:5432 is more than 5000 ms behind"],
    [{ ...standby, isWritable: true }, undefined, "warning", "db2:5432 is not a standby"],
    [{ ...standby, cluster: "b" }, 12, "problem", "db2:5432 is not a replica of the database"],
    [{ _tag: "Unavailable", problem: "connect ECONNREFUSED" }, undefined, "warning", "remove it from DATABASE_READ_URL"]
  ])("judges %j that catches up within %s ms as %s", (state, caughtUpMs, severity, words) => {
    const finding = judgeReplicas([{ name: "db2:5432", state, caughtUpMs }], "a", 5_000)
    assert.strictEqual(finding.severity, severity)
    assert.include(finding.message, words)
  })
})
