/**
 * The least that this service's books can cost: `prototypeProxy.ts` with the service's own store of calls, so the same
 * statements, rows and batches, and with its hash of the key and its signature. No pipeline, rules, limits, digests or
 * log. It shows how much of the prototype's speed is left for everything else. It ends with its standard input.
 */
import { NodeRuntime } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Cause, DateTime, Effect, Layer } from "effect"
import { createHash, hash, randomUUID } from "node:crypto"
import { createServer, type ServerResponse } from "node:http"
import { Pool } from "undici"
import { hmacOf } from "../../../adapters/crypto/Hmac.ts"
import * as NodeEntropy from "../../../adapters/crypto/NodeEntropy.ts"
import * as PostgresCallStore from "../../../adapters/sql/metering/PostgresCallStore.ts"
import { FEE_BASIS_POINTS_DEFAULT } from "../../../domain/ledger/PlatformFee.ts"
import { CallStore, type OpenCall } from "../../../domain/metering/CallStore.ts"
import { canonical } from "../../../domain/receipts/Receipts.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { ConsumerId, ProviderId, receiptIdOf, ToolId } from "../../../domain/shared/Ids.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { format } from "../../../domain/shared/Time.ts"
import { run as migrate } from "../../../migrations/index.ts"
import { temporaryPostgres } from "../../support/servers/TemporaryPostgres.ts"
import { toolsCall } from "./bareToolsCall.ts"

const WALLETS = 512
const PRICE = Microcents.make(100n)
const LOADED = 1_000_000_000_000_000n
const DEADLINE_SECONDS = 30

const consumers = Array.from({ length: WALLETS }, () => ConsumerId.make(randomUUID()))
const providerId = ProviderId.make(randomUUID())
const toolId = ToolId.make(randomUUID())
const sign = hmacOf(createHash("sha256").update("bench").digest())

const database = PgClient.layerFrom(
  Effect.gen(function* () {
    const { url } = yield* temporaryPostgres({ durable: true })
    return yield* PgClient.make({ url })
  })
)

const opening = Effect.fnUntraced(function* (consumerId: ConsumerId): Effect.fn.Return<OpenCall, never, Entropy> {
  const { uuid } = yield* Entropy
  const openedAt = yield* DateTime.now
  return {
    invocationId: receiptIdOf(yield* uuid, FEE_BASIS_POINTS_DEFAULT),
    consumerId,
    providerId,
    toolId,
    toolName: "echo",
    priceVersion: 1,
    holdAmount: PRICE,
    feeBasisPoints: FEE_BASIS_POINTS_DEFAULT,
    freeTierCalls: 0,
    origin: "proxy",
    openedAt,
    deadlineAt: DateTime.add(openedAt, { seconds: DEADLINE_SECONDS }),
    idempotency: undefined
  }
})

const handle = Effect.fnUntraced(function* (
  calls: CallStore["Service"],
  upstream: Pool,
  request: Buffer,
  consumerId: ConsumerId
) {
  hash("sha256", consumerId, "hex")
  const call = yield* opening(consumerId)
  const opened = yield* calls.open(call)
  if (opened._tag !== "Opened") return yield* Effect.die(new Error(opened._tag))
  const body = yield* Effect.callback<Buffer>((resume) =>
    toolsCall(upstream, request, (answer) => resume(Effect.succeed(answer)))
  )
  const signed = {
    receipt_id: call.invocationId,
    tool_id: call.toolId,
    agent_id: consumerId,
    provider_id: call.providerId,
    timestamp: format(call.openedAt),
    cost_microcents: PRICE,
    status: "success" as const
  }
  const now = yield* DateTime.now
  const closed = yield* calls.close({
    consumerId,
    receipt: {
      ...signed,
      tool_name: call.toolName,
      duration_ms: now.epochMilliseconds - call.openedAt.epochMilliseconds,
      signature: sign(canonical(signed)),
      created_at: format(now)
    },
    feeBasisPoints: call.feeBasisPoints,
    held: opened.held,
    priceVersion: call.priceVersion,
    origin: "proxy",
    requestBytes: request.length,
    responseBytes: body.length,
    tokensInput: 0,
    tokensOutput: 0,
    answer: undefined
  })
  return closed._tag === "Closed" ? body : yield* Effect.die(new Error(closed._tag))
})

const failed = (why: string): void => {
  process.stderr.write(`${why}\n`)
  process.exit(1)
}

const serve = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* migrate
  yield* sql`INSERT INTO wallets (consumer_id, credits) SELECT unnest(${consumers}::uuid[]), ${LOADED}`
  const calls = yield* CallStore
  const run = Effect.runForkWith(yield* Effect.context<Entropy>())
  const upstream = new Pool(`http://127.0.0.1:${process.argv[2]}`, { connections: 256, pipelining: 1 })
  const answer = (response: ServerResponse, body: Buffer) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": body.length })
    response.end(body)
  }
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const consumerId = consumers[Number(request.headers["x-wallet"])]!
      run(handle(calls, upstream, Buffer.concat(chunks), consumerId)).addObserver((exit) =>
        exit._tag === "Success" ? answer(response, exit.value) : failed(Cause.pretty(exit.cause))
      )
    })
  })
  server.listen(0, "127.0.0.1", 1_024, () => {
    const address = server.address()
    process.stdout.write(`listening ${typeof address === "object" && address !== null ? address.port : 0}\n`)
  })
  return yield* Effect.never
})

serve.pipe(
  Effect.provide([PostgresCallStore.layer.pipe(Layer.provideMerge(database)), NodeEntropy.layer]),
  Effect.scoped,
  NodeRuntime.runMain
)
