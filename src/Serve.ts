/**
 * Runs the service until it is stopped or fails.
 */
import { Console, Deferred, Effect, Layer } from "effect"
import { flushCompileCache } from "node:module"
import { setFlagsFromString } from "node:v8"
import { parseTrustedProxies } from "../adapters/http/pipeline/WebRequest.ts"
import {
  CONNECTIONS_MAX,
  layer as nodeServer,
  ListeningAt,
  portToListenOn
} from "../adapters/http/server/NodeServer.ts"
import { type AppConfig, baseUrlOf, configOfWorker, valueOf } from "./config/AppConfig.ts"
import { listOf } from "./config/SettingValues.ts"
import { demoByDefault } from "./layers/DemoProvider.ts"
import { Fatal, nodeClock } from "./layers/Process.ts"
import { metricsAccess, serviceOf, upstreamPolicy } from "./layers/Service.ts"
import { telemetry } from "./layers/Telemetry.ts"
import type { WorkerLink } from "./layers/WorkerLink.ts"

/**
 * Otherwise V8 allocates objects of requests in its old generation, where they stay until the next full collection, in
 * most processes that were under load while the young generation was still small. Measured with 256 connections: 25 us of
 * collection per call instead of 13.
 */
const REQUESTS_STAY_YOUNG = "--no-allocation-site-pretenuring"

/**
 * Otherwise V8 collects 8 s after the last calls, and drops compiled code whose objects are gone: the calls of the next
 * second take twice the processor time. Memory of ended calls is collected when it is needed.
 */
const CODE_STAYS_COMPILED = "--memory-reducer-gc-count=0"

/** `link`: of a worker, which serves together with others. */
export const serve = Effect.fnUntraced(function* (given: AppConfig, link?: WorkerLink) {
  setFlagsFromString(REQUESTS_STAY_YOUNG)
  setFlagsFromString(CODE_STAYS_COMPILED)
  const port = link?.duty.port ?? (yield* portToListenOn(valueOf(given, "HOST"), valueOf(given, "PORT")))
  const own = link === undefined ? given : configOfWorker(given, link.duty.place, link.duty.workers)
  const config = { ...own, PORT: port }
  const ofProcess = telemetry(config).pipe(Layer.provideMerge(nodeClock(config)))
  return yield* Effect.provide(serveOn(config, link), Layer.merge(ofProcess, link?.postgres ?? Layer.empty))
})

const serveOn = (config: AppConfig, link: WorkerLink | undefined) =>
  Effect.gen(function* () {
    const at = yield* ListeningAt
    const text = welcome(config, at, link?.duty.workers ?? 1)
    yield* link === undefined ? Console.log(text) : link.ready(at.port, text)
    // The next start reads it, also if this process is killed. Does nothing without NODE_COMPILE_CACHE.
    yield* Effect.sync(flushCompileCache)
    return yield* Deferred.await(yield* Fatal)
  }).pipe(
    Effect.provide(
      nodeServer({
        host: valueOf(config, "HOST"),
        port: valueOf(config, "PORT"),
        drain: valueOf(config, "SHUTDOWN_GRACE_MS"),
        noticeMs: valueOf(config, "SHUTDOWN_NOTICE_MS"),
        connectionsPerAddressMax: valueOf(config, "CONNECTIONS_PER_ADDRESS_MAX"),
        connectionsMax: Math.ceil(CONNECTIONS_MAX / (link?.duty.workers ?? 1)),
        isReplaced: () => link?.isReplaced() ?? false,
        trustedProxies: parseTrustedProxies(listOf(config.TRUST_PROXY ?? ""))
      }).pipe(Layer.provide(onItsSocket(config, link)), Layer.provideMerge(Fatal.layer))
    )
  )

/** The settings of a service that no other app mounts: its URL is where it listens. */
const onItsSocket = (config: AppConfig, link: WorkerLink | undefined) =>
  serviceOf({
    ...config,
    BASE_URL: baseUrlOf(config),
    DEMO_PROVIDER: demoByDefault(config),
    metrics: metricsAccess(config),
    others: link?.others
  })

const welcome = (config: AppConfig, at: ListeningAt["Service"], workers: number): string => {
  const url = config.BASE_URL ?? `http://${at.host.includes(":") ? `[${at.host}]` : at.host}:${at.port}`
  return [
    `Agent Tool Billing is ready at ${url} (profile ${config.profile}, ${kept(config)}${workers > 1 ? `, ${workers} workers` : ""})`,
    ...(upstreamPolicy(config).loopback ? ["  tools          can be on this machine (ALLOW_UPSTREAM)"] : []),
    ...(demoByDefault(config) === "on" ? [`  demo tools     ${url}/catalog?category=demo (DEMO_PROVIDER)`] : []),
    `  documentation  ${url}/docs`,
    `  contract       ${url}/api/openapi.json`,
    `  catalog        curl ${url}/api/market/catalog`,
    `  register       curl ${url}/api/market/register-consumer -H 'content-type: application/json' -d '{"name":"me","email":"me@example.org"}'`
  ].join("\n")
}

const kept = (config: AppConfig): string => {
  switch (config.profile) {
    case "memory":
      return "in memory: all data is lost when it stops"
    case "embedded":
      return `PostgreSQL in ${valueOf(config, "DATA_DIR")}`
    case "production":
      return "PostgreSQL at DATABASE_URL"
  }
}
