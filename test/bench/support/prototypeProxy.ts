/**
 * The least that billing can cost: `bareProxy.ts` with two durable commits per call, a hold before the call and its
 * settlement with a receipt after it. No keys, checks, limits, usage, log or signatures. Calls that arrive while a batch
 * is written form the next one, on one connection to a PostgreSQL of its own. It ends with its standard input.
 */
import { PgConnection, type PgTypes } from "@effect/sql-pg"
import { NodeRuntime } from "@effect/platform-node"
import { Cause, Effect } from "effect"
import { randomUUID } from "node:crypto"
import { createServer, type ServerResponse } from "node:http"
import { Pool } from "undici"
import { column, OID } from "../../../adapters/sql/shared/Columns.ts"
import { temporaryPostgres } from "../../support/servers/TemporaryPostgres.ts"
import { toolsCall } from "./bareToolsCall.ts"

const WALLETS = 512
const PRICE = 100n
const SCHEMA = [
  "CREATE TABLE wallets (id int4 PRIMARY KEY, balance int8, held int8, CHECK (balance >= held)) WITH (fillfactor = 70)",
  `INSERT INTO wallets SELECT n, 1000000000000000, 0 FROM generate_series(0, ${WALLETS - 1}) n`,
  "CREATE TABLE receipts (id uuid PRIMARY KEY, wallet int4, amount int8, at timestamptz DEFAULT now())"
]
const COMMIT = `WITH moved AS (
    UPDATE wallets w SET held = w.held + d.held, balance = w.balance - d.cost
    FROM unnest($1::int4[], $2::int8[], $3::int8[]) AS d (id, held, cost) WHERE w.id = d.id)
  INSERT INTO receipts (id, wallet, amount) SELECT * FROM unnest($4::uuid[], $5::int4[], $6::int8[])`

interface Step {
  readonly wallet: number
  /** Of a settlement; none of a hold. */
  readonly receipt: string | undefined
  readonly done: () => void
}

const paramsOf = (batch: ReadonlyArray<Step>): ReadonlyArray<PgTypes.Parameter> => {
  const changes = new Map<number, { held: bigint; cost: bigint }>()
  for (const { receipt, wallet } of batch) {
    const { cost, held } = changes.get(wallet) ?? { held: 0n, cost: 0n }
    changes.set(
      wallet,
      receipt === undefined ? { held: held + PRICE, cost } : { held: held - PRICE, cost: cost + PRICE }
    )
  }
  const wallets = [...changes].toSorted(([a], [b]) => a - b)
  const closed = batch.filter(({ receipt }) => receipt !== undefined)
  return [
    column(
      wallets.map(([id]) => id),
      OID.int4
    ),
    column(
      wallets.map(([, { held }]) => held),
      OID.int8
    ),
    column(
      wallets.map(([, { cost }]) => cost),
      OID.int8
    ),
    column(
      closed.map(({ receipt }) => receipt),
      OID.uuid
    ),
    column(
      closed.map(({ wallet }) => wallet),
      OID.int4
    ),
    column(
      closed.map(() => PRICE),
      OID.int8
    )
  ]
}

/** Resolves a step when it is durable. */
const committer = (connection: PgConnection.PgConnection) => {
  let waiting: Array<Step> = []
  let isWriting = false
  const write = (): void => {
    const batch = waiting
    waiting = []
    isWriting = batch.length > 0
    if (!isWriting) return
    Effect.runCallback(connection.queryValues(COMMIT, paramsOf(batch)), {
      onExit: (exit) => {
        if (exit._tag === "Failure") return failed(Cause.pretty(exit.cause))
        for (const { done } of batch) done()
        write()
      }
    })
  }
  return (wallet: number, receipt: string | undefined, done: () => void): void => {
    waiting.push({ wallet, receipt, done })
    if (isWriting) return
    isWriting = true
    setImmediate(write)
  }
}

const failed = (why: string): void => {
  process.stderr.write(`${why}\n`)
  process.exit(1)
}

const serve = (connection: PgConnection.PgConnection, upstream: Pool): void => {
  const commit = committer(connection)
  const answer = (response: ServerResponse, body: Buffer) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": body.length })
    response.end(body)
  }
  const server = createServer((request, response) => {
    const wallet = Number(request.headers["x-wallet"])
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () =>
      commit(wallet, undefined, () =>
        toolsCall(upstream, Buffer.concat(chunks), (body) => commit(wallet, randomUUID(), () => answer(response, body)))
      )
    )
  })
  server.listen(0, "127.0.0.1", 1_024, () => {
    const address = server.address()
    process.stdout.write(`listening ${typeof address === "object" && address !== null ? address.port : 0}\n`)
  })
}

Effect.gen(function* () {
  const { url } = yield* temporaryPostgres({ durable: true })
  const connection = yield* PgConnection.make({
    url,
    startupParameters: { plan_cache_mode: "force_generic_plan", jit: "off" }
  })
  yield* Effect.forEach(SCHEMA, (statement) => connection.query(statement, []))
  serve(connection, new Pool(`http://127.0.0.1:${process.argv[2]}`, { connections: 256, pipelining: 1 }))
  return yield* Effect.never
}).pipe(Effect.scoped, NodeRuntime.runMain)
