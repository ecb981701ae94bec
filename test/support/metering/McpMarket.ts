/**
 * A market whose provider is a function of the test, for calls from a door that speaks MCP.
 */
import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as MemoryTaskStore from "../../../adapters/memory/tasks/MemoryTaskStore.ts"
import type { ToolChange } from "../../../domain/catalog/Tool.ts"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import type { McpCallRequest } from "../../../domain/metering/Call.ts"
import { CallStore } from "../../../domain/metering/CallStore.ts"
import { UPSTREAM_LIMITS, UpstreamLimits } from "../../../domain/metering/CallTerms.ts"
import { McpCalls } from "../../../domain/mcp/McpCalls.ts"
import { Loads } from "../../../domain/payments/Loads.ts"
import { Registration } from "../../../domain/providers/Registration.ts"
import { ReceiptStore } from "../../../domain/receipts/Receipts.ts"
import type { ConsumerId } from "../../../domain/shared/Ids.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import {
  type McpExchange,
  ToolUpstream,
  type UpstreamCall,
  type UpstreamResponse
} from "../../../domain/upstream/ToolUpstream.ts"
import { core } from "../../../src/layers/Core.ts"
import { memoryPorts } from "../../../src/layers/MemoryPorts.ts"
import { postgresStores } from "../../../src/layers/PostgresStores.ts"
import { overBoth, PostgresTest } from "../servers/PostgresTest.ts"
import { exchangeOf, render } from "./McpExchanges.ts"

export const MCP_PRICE = Microcents.make(1_000n)
export const MCP_FUNDS = 1_000_000n

const declared = {
  displayName: "Ask",
  description: "Asks before it responds",
  category: "text",
  price: MCP_PRICE,
  freeTierCalls: 0,
  inputSchema: undefined,
  outputSchema: undefined,
  billingPolicy: "success",
  maxCost: undefined,
  timeoutMs: undefined,
  idempotent: false,
  onCancel: "finish",
  canceledCallCosts: "nothing"
} as const

/** What the provider does; a test sets it, and reads what the provider was sent. */
export class Provider {
  respond: (call: UpstreamCall) => Effect.Effect<UpstreamResponse> = () => Effect.die("The test set no response")
  readonly calls: Array<UpstreamCall> = []
  readonly upstream = Layer.succeed(ToolUpstream, {
    call: (call) =>
      Effect.suspend(() => {
        this.calls.push(call)
        call.onForwarded?.(1)
        return this.respond(call)
      })
  })
}

const took = { attempts: 1, latencyMs: 7, requestBytes: 100, responseBytes: 200 }

export const completed = (result: Readonly<Record<string, unknown>> = { content: [] }): UpstreamResponse => ({
  status: "success",
  result,
  problem: undefined,
  ...took
})

/** The provider asks for input, with this state of its own. */
export const asking = (requestState?: string): UpstreamResponse => ({
  status: "error",
  result: undefined,
  problem: { kind: "unfinished", message: "The tool requires more input" },
  pending: {
    kind: "input_required",
    resultText: `{"resultType":"input_required","n":12345678901234567890${
      requestState === undefined ? "" : `, "requestState":${JSON.stringify(requestState)}`
    },"inputRequests":{"name":{"method":"elicitation/create","params":{}}}}`,
    requestState
  },
  ...took
})

const onPostgres = Layer.unwrap(
  Effect.map(PostgresTest, ({ url }) => Layer.orDie(postgresStores({ url, connectionsMax: 10 })))
).pipe(Layer.provide(PostgresTest.layerDatabase))

const LIMITS = { ...UPSTREAM_LIMITS, totalMs: 25_000 }

const market = ({ upstream }: Provider, inFlightMax = LIMITS.inFlightMax) =>
  core.pipe(Layer.provide(upstream), Layer.provide(Layer.succeed(UpstreamLimits, { ...LIMITS, inFlightMax })))

export const memoryMcpMarket = (provider: Provider, inFlightMax?: number) =>
  Layer.provideMerge(market(provider, inFlightMax), Layer.merge(memoryPorts, MemoryTaskStore.layer))

export const postgresMcpMarket = (provider: Provider) =>
  market(provider).pipe(Layer.provideMerge(onPostgres), Layer.provideMerge(memoryPorts))

/** For races. */
export const everyMcpMarket = () => overBoth(memoryMcpMarket, postgresMcpMarket)

let registered = 0

/** A provider's tools. */
export const tools = Effect.fnUntraced(function* (changes: ReadonlyArray<Partial<ToolChange>> = [{}]) {
  const n = ++registered
  const registration = yield* Registration
  const made = yield* registration.provider(
    {
      name: `Askers ${n}`,
      email: `askers${n}@example.org`,
      endpointUrl: `https://askers${n}.example.org/mcp`,
      description: "",
      pricingModel: "per_call",
      defaultPrice: MCP_PRICE,
      tools: changes.map((change, i) => ({ ...declared, toolName: `ask_${i}`, ...change }))
    },
    undefined
  )
  return made
})

export const aConsumer = Effect.fnUntraced(function* (cents = Number(MCP_FUNDS / 10_000n)) {
  const n = ++registered
  const { consumer } = yield* (yield* Registration).consumer(
    { name: `Agent ${n}`, email: `agent${n}@example.org`, useCase: "", rateLimitRpm: undefined },
    undefined
  )
  if (cents > 0) yield* addFunds(consumer.id, cents)
  return consumer.id
})

export const addFunds = (consumerId: ConsumerId, amountCents: number) =>
  Effect.flatMap(Loads, (loads) => loads.load({ consumerId, amountCents, key: undefined }))

export const requestOf = (
  consumerId: ConsumerId,
  toolId: string,
  exchange: Partial<McpExchange> = {},
  more: Partial<McpCallRequest> = {}
): McpCallRequest => ({
  consumerId,
  tool: { toolId: toolId as never, toolName: undefined, providerId: undefined },
  arguments: {},
  maxCost: undefined,
  idempotency: undefined,
  exchange: exchangeOf(exchange),
  ...more
})

export const callMcp = (request: McpCallRequest) => Effect.flatMap(McpCalls, (calls) => calls.call(request, render))

/** The caller's request after this state, with its answers. */
export const withState = (state: string, more: Partial<McpExchange> = {}): Partial<McpExchange> => ({
  otherParams: `"inputResponses":{"name":{"action":"accept","content":{"n":1.50}}},"requestState":${JSON.stringify(state)}`,
  ...more
})

/** Makes a call whose provider asks for input; returns the sealed state and the receipt's id. */
export const asked = Effect.fnUntraced(function* (request: McpCallRequest) {
  const outcome = yield* callMcp(request)
  if (outcome._tag !== "InputRequired") return yield* Effect.die(new Error(`Not asked: ${outcome._tag}`))
  const { requestState }: { readonly requestState: string } = JSON.parse(outcome.resultText)
  return { state: requestState, receiptId: outcome.receiptId, resultText: outcome.resultText }
})

export const settledBy = Effect.fnUntraced(function* (request: McpCallRequest) {
  const outcome = yield* callMcp(request)
  if (outcome._tag !== "Settled") return yield* Effect.die(new Error(`Not settled: ${outcome._tag}`))
  return outcome
})

/** Why the call is rejected. */
export const rejectedFor = (request: McpCallRequest) =>
  Effect.map(Effect.flip(callMcp(request)), (rejection) =>
    "reason" in rejection ? `${rejection._tag} ${rejection.reason}` : rejection._tag
  )

export const walletOf = (consumerId: ConsumerId) => Effect.flatMap(Ledger, (ledger) => ledger.wallet(consumerId))

export const checkWallet = Effect.fnUntraced(function* (consumerId: ConsumerId, spent: bigint, held: bigint) {
  const { available, debits, held: kept } = yield* walletOf(consumerId)
  assert.deepStrictEqual(
    { available, debits, held: kept },
    { available: MCP_FUNDS - spent - held, debits: spent, held }
  )
})

export const outcomeOf = (consumerId: ConsumerId, receiptId: Parameters<CallStore["Service"]["outcome"]>[1]) =>
  Effect.flatMap(CallStore, (calls) => calls.outcome(consumerId, receiptId))

/** Of all calls, newest first. */
export const receiptsOf = (consumerId: ConsumerId) =>
  Effect.flatMap(ReceiptStore, (store) =>
    Effect.map(
      store.list(
        { role: "consumer", ownerId: consumerId },
        { toolId: undefined, status: undefined, from: undefined, to: undefined },
        { limit: 100, offset: 0, after: undefined }
      ),
      ({ items }) => items
    )
  )

/** The provider asks this often, with states of its own, and then completes. */
export const askingTimes = (provider: Provider, times: number, last = completed()) => {
  provider.respond = () => {
    const n = provider.calls.length
    return Effect.succeed(n <= times ? asking(`state ${n}`) : last)
  }
}

/** A tool that asks this often, and a consumer with funds. */
export const askerOf = (provider: Provider) =>
  Effect.fnUntraced(function* (times: number, changes?: ReadonlyArray<Partial<ToolChange>>) {
    provider.calls.length = 0
    askingTimes(provider, times)
    const made = yield* tools(changes)
    const consumerId = yield* aConsumer()
    return { ...made, consumerId, toolId: made.tools[0]!.id }
  })
