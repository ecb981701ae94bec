/**
 * A real PostgreSQL from npm's binaries, with its data in a folder, started and supervised while the scope is open.
 * Everything committed survives `kill -9` of the service, of the server and of both.
 */
import { Clock, Context, Effect, Layer, type Redacted, type Scope } from "effect"
import { openCluster, OWNER_ROLE, ROLE } from "./Cluster.ts"
import { makeFolder, ownFolder } from "./Disk.ts"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import { urlOf } from "./ServerProcess.ts"
import { supervise } from "./Supervisor.ts"

export interface EmbeddedPostgresOptions {
  /** Created if missing; the cluster is in its folder `postgres`. One service at a time. */
  readonly dataDir: string
  /** Default: a free port of 127.0.0.1. */
  readonly port?: number | undefined
  /** Called when a process runs that takes a while: the caller can use that time. */
  readonly onProcess?: (() => void) | undefined
}

export class EmbeddedPostgres extends Context.Service<
  EmbeddedPostgres,
  {
    /** Database `billing` as the service's role, `billing`. Constant while the scope is open, across restarts. */
    readonly url: Redacted.Redacted<string>
    /** Its role owns the database and its tables. */
    readonly ownerUrl: Redacted.Redacted<string>
    readonly port: number
    /** A running server of an earlier service was taken over. */
    readonly adopted: boolean
    readonly logFile: string
    /** Waits until the server died and could not be restarted, then fails. */
    readonly failed: Effect.Effect<never, EmbeddedPostgresError>
  }
>()("agent-tool-billing/adapters/sql/embedded/EmbeddedPostgres") {
  static readonly start = (
    options: EmbeddedPostgresOptions
  ): Effect.Effect<EmbeddedPostgres["Service"], EmbeddedPostgresError, Scope.Scope> => start(options)

  static readonly layer = (options: EmbeddedPostgresOptions): Layer.Layer<EmbeddedPostgres, EmbeddedPostgresError> =>
    Layer.effect(EmbeddedPostgres, start(options))
}

/** Processes follow the machine's time, also under a test's clock. */
const machineClock = Clock.Clock.defaultValue()

const start = Effect.fn("EmbeddedPostgres.start")(
  function* ({ dataDir, onProcess, port }: EmbeddedPostgresOptions) {
    const folder = yield* makeFolder(dataDir)
    yield* ownFolder(folder)
    const cluster = yield* openCluster(folder, onProcess)
    const server = yield* supervise(cluster, port)
    return EmbeddedPostgres.of({
      url: urlOf(cluster, ROLE, server.port),
      ownerUrl: urlOf(cluster, OWNER_ROLE, server.port),
      port: server.port,
      adopted: server.adopted,
      logFile: cluster.logFile,
      failed: Effect.mapError(server.failed, (reason) => new EmbeddedPostgresError({ reason }))
    })
  },
  Effect.mapError((reason) => new EmbeddedPostgresError({ reason })),
  Effect.provideService(Clock.Clock, machineClock)
)
