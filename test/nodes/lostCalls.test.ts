/**
 * A service on an asynchronous pair under load. The primary is killed while the standby lacks its last commits: the calls
 * that were acknowledged and are lost are listed, all of them and no others; so are those that were in flight.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { uuidOfReceipt } from "../../adapters/sql/ledger/LedgerCodes.ts"
import { ReceiptId } from "../../domain/shared/Ids.ts"
import { until } from "../support/servers/EmbeddedFolders.ts"
import { callLoad, isKeyed } from "../support/load/CallLoad.ts"
import { echoProvider } from "../support/load/EchoProvider.ts"
import { loadMarket, OPEN_TO_LOAD } from "../support/load/LoadMarket.ts"
import { replicaPair } from "../support/servers/ReplicaPair.ts"
import { finished, json, ready } from "../support/servers/ServiceProcess.ts"
import { connectedTo } from "../support/servers/TestDatabases.ts"

const CONNECTIONS = 32
const uuidOf = (receiptId: string) => uuidOfReceipt(ReceiptId.make(receiptId))
const METRICS_TOKEN = "a token for the metrics of lost calls"

interface Listed {
  readonly receipt_id: string
  readonly acknowledged: boolean
  readonly forwarded_twice: boolean
}

describe("with asynchronous replication", () => {
  it.live(
    "calls that were acknowledged and lost with the primary are listed",
    () =>
      Effect.gen(function* () {
        const pair = yield* replicaPair({ isSynchronous: false })
        const settings = {
          DATABASE_URL: Redacted.value(pair.url),
          RECEIPT_SIGNING_SECRET: "the secret of a service that loses calls",
          LOG_SIGNING_KEY: "10ca".repeat(16),
          METRICS_TOKEN,
          PAYMENTS: "dry_run"
        }
        const node = yield* ready({ ...OPEN_TO_LOAD, ...settings, LOG_LEVEL: "Warn" })
        const provider = yield* echoProvider
        provider.answerAfter(20)
        const market = yield* loadMarket(node.url, provider)
        const load = yield* callLoad({ ...market, url: node.url, connections: CONNECTIONS })
        const { acknowledged } = load.heard
        const flows = (more: number) =>
          Effect.suspend(() => {
            const enough = acknowledged.length + more
            return until(
              "calls are answered",
              Effect.sync(() => acknowledged.length >= enough)
            )
          })
        yield* flows(4 * CONNECTIONS)
        yield* pair.stopReplication
        yield* flows(4 * CONNECTIONS)

        yield* pair.signalPrimary("SIGKILL")
        yield* pair.promote
        yield* flows(4 * CONNECTIONS)
        const heard = yield* load.stop

        const idsOf = (query: string) =>
          Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<{ readonly id: string }>(query)).pipe(
            Effect.map((rows) => new Set(rows.map(({ id }) => id))),
            connectedTo(pair.standby.url),
            Effect.orDie
          )
        const paid = idsOf("SELECT receipt_id::text AS id FROM receipts WHERE cost > 0")
        const recorded = idsOf("SELECT receipt_id::text AS id FROM lost_calls WHERE acknowledged")
        yield* until(
          "each acknowledged call is on the standby or recorded as lost",
          Effect.zipWith(paid, recorded, (known, found) =>
            acknowledged.every(({ receiptId }) => known.has(uuidOf(receiptId)) || found.has(uuidOf(receiptId)))
          )
        )
        const stored = yield* paid
        const known = yield* idsOf(
          "SELECT receipt_id::text AS id FROM receipts UNION ALL SELECT invocation_id::text FROM calls_open"
        )
        const lost = acknowledged.filter(({ receiptId }) => !stored.has(uuidOf(receiptId)))
        assert.isAbove(lost.length, 0)
        // Calls that were in flight and lost their opening: their callers got 503.
        assert.isUndefined(heard.statuses.get(500), JSON.stringify([...heard.statuses]))
        const forwarded = [...provider.invocations.values()].flat()
        const traces = idsOf(
          `SELECT receipt_id::text AS id FROM receipts UNION ALL SELECT invocation_id::text FROM calls_open
            UNION ALL SELECT receipt_id::text FROM lost_calls`
        )
        yield* until(
          "each call that was forwarded is on the standby or recorded as lost",
          Effect.map(traces, (seen) => forwarded.every((id) => seen.has(uuidOf(id))))
        )

        const metric = Effect.promise(async () => {
          const response = await fetch(`${node.url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })
          return /^atb_lost_calls (\d+)$/mu.exec(await response.text())?.[1]
        })
        yield* until(
          "the metric counts them",
          Effect.map(metric, (found) => Number(found) >= lost.length)
        )
        // The same key again: the standby does not know it.
        const again = lost.find(({ call, receiptId }) => isKeyed(call) && !known.has(uuidOf(receiptId)))!
        const sent = yield* json(`${node.url}/api/market/proxy`, {
          method: "POST",
          headers: {
            authorization: `Bearer ${market.buyers[Number(again.call.split("-")[2]) % market.buyers.length]}`,
            "content-type": "application/json",
            "idempotency-key": again.call
          },
          body: JSON.stringify({ tool_id: market.toolId, input: { call: again.call } })
        })
        assert.strictEqual(sent.status, 200, JSON.stringify(sent.body))
        assert.lengthOf(provider.invocations.get(again.call)!, 2)

        const command = yield* finished(["lost-calls", "--reviewed"], { settings })
        assert.strictEqual(command.code, 0, command.problem)
        const listed = command.output
          .split("\n")
          .filter((line) => line.startsWith("{"))
          .map((line) => JSON.parse(line) as Listed)
        const ids = (list: ReadonlyArray<string>) => [...list].toSorted()
        const promised = listed.filter((one) => one.acknowledged)
        assert.isAbove(listed.length, promised.length)
        assert.deepStrictEqual(ids(promised.map((one) => one.receipt_id)), ids(lost.map((one) => one.receiptId)))
        assert.deepStrictEqual(
          promised.filter((one) => one.forwarded_twice).map((one) => one.receipt_id),
          [again.receiptId]
        )
        assert.include(command.output, `${listed.length} calls were marked as reviewed.`)
        assert.strictEqual(yield* metric, "0")
        for (const { receiptId } of lost) assert.include(node.output() + node.problem(), receiptId)

        const audit = yield* finished(["audit"], { settings })
        assert.strictEqual(audit.code, 0, audit.output + audit.problem)
        yield* Effect.log("lost with the primary", {
          acknowledged: acknowledged.length,
          lost: lost.length,
          inFlight: listed.length - promised.length,
          statuses: Object.fromEntries(heard.statuses),
          slowestMs: Math.round(heard.slowestMs)
        })
      }),
    300_000
  )
})
