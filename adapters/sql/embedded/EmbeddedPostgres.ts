/**
 * A real PostgreSQL in a folder, out of npm's binaries: started and looked after for as long as the scope lives. It
 * survives `kill -9` of the service, of the server and of both, with everything that was committed.
 */
import { Clock, Context, Effect, Layer, type Redacted, type Scope } from "effect"
import { openCluster, OWNER_ROLE, ROLE } from "./Cluster.ts"
import { makeFolder } from "./Disk.ts"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import { ownFolder } from "./FolderLock.ts"
import { urlOf } from "./Launch.ts"
import { supervise } from "./Supervisor.ts"

export interface EmbeddedPostgresOptions {
  /** Made if missing; the cluster is in its folder `postgres`. One service at a time. */
  readonly dataDir: string
  /** On 127.0.0.1; a free one if not given. */
  readonly port?: number | undefined
}

export class EmbeddedPostgres extends Context.Service<
  EmbeddedPostgres,
  {
    /** Database `billing` as the service's role, `billing`: the same for as long as the scope lives, across restarts. */
    readonly url: Redacted.Redacted<string>
    /** As the role that owns the database and its tables. */
    readonly ownerUrl: Redacted.Redacted<string>
    readonly port: number
    /** The server of an earlier service was found alive and taken over. */
    readonly adopted: boolean
    readonly logFile: string
    /** Fails when the server died and could not be brought back; waits until then. */
    readonly gaveUp: Effect.Effect<never, EmbeddedPostgresError>
  }
>()("agent-tool-billing/adapters/sql/embedded/EmbeddedPostgres") {
  static readonly start = (
    options: EmbeddedPostgresOptions
  ): Effect.Effect<EmbeddedPostgres["Service"], EmbeddedPostgresError, Scope.Scope> => start(options)

  static readonly layer = (options: EmbeddedPostgresOptions): Layer.Layer<EmbeddedPostgres, EmbeddedPostgresError> =>
    Layer.effect(EmbeddedPostgres, start(options))
}

/** Processes live in the machine's time, also under a test's clock. */
const machineClock = Clock.Clock.defaultValue()

const start = Effect.fn("EmbeddedPostgres.start")(
  function* ({ dataDir, port }: EmbeddedPostgresOptions) {
    const folder = yield* makeFolder(dataDir)
    yield* ownFolder(folder)
    const cluster = yield* openCluster(folder)
    const server = yield* supervise(cluster, port)
    return EmbeddedPostgres.of({
      url: urlOf(cluster, ROLE, server.port),
      ownerUrl: urlOf(cluster, OWNER_ROLE, server.port),
      port: server.port,
      adopted: server.adopted,
      logFile: cluster.logFile,
      gaveUp: Effect.mapError(server.gaveUp, (reason) => new EmbeddedPostgresError({ reason }))
    })
  },
  Effect.mapError((reason) => new EmbeddedPostgresError({ reason })),
  Effect.provideService(Clock.Clock, machineClock)
)
