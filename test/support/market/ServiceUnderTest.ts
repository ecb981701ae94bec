/**
 * The whole service in this process, as `serve` composes it, without a socket: requests are passed as the server
 * would, and every response is checked against the contract.
 */
import { Context, Effect, Layer, Logger, type Schema } from "effect"
import { Dispatcher } from "../../../adapters/http/pipeline/Dispatcher.ts"
import { PayloadTooLarge } from "../../../adapters/http/pipeline/Failures.ts"
import type { WebRequest } from "../../../adapters/http/pipeline/WebRequest.ts"
import type { Source } from "../../../src/config/AppConfig.ts"
import type { Answer } from "../checks/Answer.ts"
import { contractFaults } from "../checks/ContractCheck.ts"
import { overBoth, PostgresTest } from "../servers/PostgresTest.ts"
import { memoryConfig, serviceOnPostgres, wholeService } from "./ServiceConfig.ts"

export { LIVE } from "../servers/PostgresTest.ts"

export interface Call {
  /** Default: POST with a body, else GET. */
  readonly method?: string
  /** With the query. */
  readonly path: string
  readonly key?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON, with its content type. */
  readonly json?: unknown
  /** Sent as it is; `endless`: the body starts and never ends. */
  readonly body?: string | Uint8Array | "endless"
  readonly from?: string
}

export class ServiceUnderTest extends Context.Service<
  ServiceUnderTest,
  {
    send(call: Call): Effect.Effect<Answer>
  }
>()("agent-tool-billing/test/support/ServiceUnderTest") {
  static readonly memory = (settings: Source = {}): Layer.Layer<ServiceUnderTest> =>
    over(wholeService(memoryConfig(settings)))

  static readonly postgres = (settings: Source = {}): Layer.Layer<ServiceUnderTest | PostgresTest> =>
    over(serviceOnPostgres(settings)).pipe(Layer.provideMerge(PostgresTest.layerDatabase))

  /** For a dispatcher that a test has built. */
  static readonly over = <R>(dispatcher: Layer.Layer<Dispatcher, never, R>): Layer.Layer<ServiceUnderTest, never, R> =>
    over(dispatcher)
}

/** For races, and for what only a database does. */
export const everyService = (settings: Source = {}) =>
  overBoth(ServiceUnderTest.memory(settings), ServiceUnderTest.postgres(settings))

export const send = (call: Call) => Effect.flatMap(ServiceUnderTest, (service) => service.send(call))

const over = <R>(dispatcher: Layer.Layer<Dispatcher, never, R>): Layer.Layer<ServiceUnderTest, never, R> =>
  Layer.effect(
    ServiceUnderTest,
    Effect.gen(function* () {
      const { dispatch } = yield* Dispatcher
      return ServiceUnderTest.of({
        send: Effect.fnUntraced(function* (call) {
          const sent = toRequest(call)
          const lines: Array<string> = []
          yield* nextTurn
          const logger = Logger.map(Logger.formatLogFmt, (line) => lines.push(line))
          const { body, headers, status } = yield* Effect.provide(dispatch(sent.request), Logger.layer([logger]))
          const text = typeof body === "string" ? body : new TextDecoder().decode(body)
          const answer: Answer = {
            status,
            headers,
            text,
            bytes: typeof body === "string" ? new TextEncoder().encode(body) : body,
            json: parsed(text, headers),
            bodyWasRead: sent.bodyWasRead(),
            log: lines.join("\n")
          }
          const faults = contractFaults(sent.request, answer)
          if (faults.length > 0) return yield* Effect.die(new Error(description(sent.request, answer, faults)))
          return answer
        })
      })
    })
  ).pipe(Layer.provide(dispatcher))

/** A request arrives through the event loop: pending work of the server is done first. */
const nextTurn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))

const toRequest = (call: Call): { readonly request: WebRequest; readonly bodyWasRead: () => boolean } => {
  const body = call.json === undefined ? call.body : JSON.stringify(call.json)
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : (body ?? new Uint8Array())
  const [path = "", ...query] = call.path.split("?")
  let wasRead = false
  return {
    bodyWasRead: () => wasRead,
    request: {
      method: call.method ?? (body === undefined ? "GET" : "POST"),
      path,
      query: query.join("?"),
      headers: {
        ...(call.key === undefined ? {} : { authorization: `Bearer ${call.key}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...call.headers
      },
      remoteAddress: call.from ?? "192.0.2.1",
      body: (bytesMax) =>
        Effect.suspend(() => {
          wasRead = true
          if (body === "endless") return Effect.never
          return bytes.length > bytesMax ? Effect.fail(new PayloadTooLarge({ bytesMax })) : Effect.succeed(bytes)
        })
    }
  }
}

const parsed = (text: string, headers: Answer["headers"]): Schema.Json | undefined =>
  /^application\/(?:[a-z.+-]+\+)?json(?:;|$)/u.test(headers["content-type"] ?? "")
    ? (JSON.parse(text) as Schema.Json)
    : undefined

const description = (request: WebRequest, answer: Answer, faults: ReadonlyArray<string>): string =>
  [
    `${request.method} ${request.path}?${request.query} was answered with ${answer.status} against the contract:`,
    ...faults.map((fault) => `  ${fault}`),
    answer.text.slice(0, 2_000),
    answer.log.slice(0, 5_000)
  ].join("\n")
