/**
 * Three service processes on one PostgreSQL behind a balancer, as an operator runs them; with a Redis where the
 * machine has one. Or one service with three workers.
 */
import { Context, Effect, Layer, Redacted, Scope } from "effect"
import { kill } from "../servers/EmbeddedFolders.ts"
import { PostgresTest } from "../servers/PostgresTest.ts"
import { isRedisHere, redisServer } from "../servers/RedisServer.ts"
import { freePort } from "../servers/FreePort.ts"
import { finished, ready } from "../servers/ServiceProcess.ts"
import { tcpBalancer, type TcpBalancer } from "../servers/TcpBalancer.ts"
import { OPEN_TO_LOAD } from "./LoadMarket.ts"

const NODES = 3
export const OPERATOR_OF_FLEET = "the operator's key of these nodes, 32 characters"

export interface Node {
  readonly url: string
  readonly kill: Effect.Effect<void>
  /** As an operator stops it; done when the process has ended. */
  readonly stop: Effect.Effect<void>
  /** Again, after it was killed or stopped. */
  readonly start: Effect.Effect<void>
}

export class Fleet extends Context.Service<
  Fleet,
  {
    /** Through the balancer. */
    readonly url: string
    readonly balancer: TcpBalancer
    readonly nodes: ReadonlyArray<Node>
    /** Over Redis, or as workers. */
    readonly sharesLimits: boolean
    /** A command of the service on the same database. */
    readonly command: (name: string) => ReturnType<typeof finished>
  }
>()("agent-tool-billing/test/support/load/Fleet") {
  private static readonly layerOf = (processes: number, workers: number): Layer.Layer<Fleet | PostgresTest> =>
    Layer.effect(
      Fleet,
      Effect.suspend(() => fleet(processes, workers))
    ).pipe(Layer.provideMerge(PostgresTest.layerDatabase))

  static readonly layer = Fleet.layerOf(NODES, 1)
  static readonly layerWorkers = Fleet.layerOf(1, NODES)
}

const fleet = Effect.fnUntraced(function* (processes: number, workers: number) {
  const scope = yield* Effect.scope
  const { url: database } = yield* PostgresTest
  const balancer = yield* tcpBalancer
  const url = `http://127.0.0.1:${balancer.port}`
  const hasRedis = workers === 1 && isRedisHere()
  const shared = {
    DATABASE_URL: Redacted.value(database),
    RECEIPT_SIGNING_SECRET: "the secret that all of these nodes share",
    LOG_SIGNING_KEY: "f1ee7000".repeat(8),
    OPERATOR_KEY: OPERATOR_OF_FLEET,
    PAYMENTS: "dry_run"
  }
  const settings = {
    ...OPEN_TO_LOAD,
    ...shared,
    ...(hasRedis ? { REDIS_URL: (yield* redisServer).url } : {}),
    // Limits are counted, but reached only by consumers with a low one.
    RATE_LIMIT_RPM: "1000000",
    RATE_LIMIT_RPM_MAX: "1000000",
    BASE_URL: url,
    WORKERS: String(workers),
    LOG_LEVEL: "Warn"
  }

  const aNode = Effect.gen(function* () {
    const PORT = String(yield* freePort)
    const begin = Scope.provide(ready({ ...settings, PORT }), scope)
    let running = yield* begin
    const node: Node = {
      url: `http://127.0.0.1:${PORT}`,
      kill: Effect.suspend(() => kill(running.child, "SIGKILL")),
      stop: Effect.suspend(() => kill(running.child, "SIGTERM")),
      start: Effect.map(begin, (again) => {
        running = again
      })
    }
    return node
  })
  const nodes = yield* Effect.all(
    Array.from({ length: processes }, () => aNode),
    { concurrency: "unbounded" }
  )
  balancer.lead(nodes.map((node) => Number(new URL(node.url).port)))
  const sharesLimits = hasRedis || workers > 1
  return Fleet.of({ url, balancer, nodes, sharesLimits, command: (name) => finished([name], { settings: shared }) })
})
