/**
 * The cluster folder inside the data folder: created once, complete or not at all, and checked at every start.
 */
import { Effect, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import {
  appendFile,
  chmod,
  chown,
  lchown,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rmdir,
  stat,
  writeFile
} from "node:fs/promises"
import { platform } from "node:os"
import { join } from "node:path"
import { type Binaries, binaries } from "./Binaries.ts"
import { accessRules, canHoldSocket, initdbOptions, SETTINGS_FILE } from "./ClusterSettings.ts"
import { closedTo, run, serverAccount, type ServerAccount } from "./Command.ts"
import { onDisk, removeLeftovers, syncFolder, writeDurably } from "./Disk.ts"
import { DiskFull, FolderUnusable, StartFailed, VersionMismatch } from "./EmbeddedPostgresError.ts"

/** The role of the service: reads and changes the tables, except those that are append-only. */
export const ROLE = "billing"
/** Owns the database and its tables, and runs the migrations. */
export const OWNER_ROLE = "billing_owner"
export const DATABASE = "billing"

export interface Cluster {
  readonly dataDir: string
  readonly folder: string
  /** The folder as named for the server: not by its path if the server's account cannot enter that path. */
  readonly folderForServer: string
  /** The server listens on a Unix socket in its folder, too. */
  readonly hasSocket: boolean
  readonly account: ServerAccount | undefined
  readonly binaries: Binaries
  readonly logFile: string
  readonly passwordFile: string
  readonly password: Redacted.Redacted<string>
  /** The stored password was lost: the new one must be set in the cluster before use. */
  readonly passwordIsNew: boolean
  readonly onProcess: (() => void) | undefined
}

const DRAFT_PREFIX = "postgres.draft-"

const TOOL_SECONDS_MAX = 120
const passwordShape = /^[0-9a-f]{64}$/u

/** Opens the cluster, or creates it. The caller must own the data folder exclusively. */
export const openCluster = Effect.fnUntraced(function* (dataDir: string, onProcess?: () => void) {
  const folder = join(dataDir, "postgres")
  const account = yield* serverAccount(folder)
  const folderForServer = yield* folderNameFor(folder, dataDir, account)
  const cluster = {
    dataDir,
    folder,
    folderForServer,
    hasSocket: yield* canHoldSocket(dataDir),
    account,
    binaries: yield* binaries(account),
    logFile: join(dataDir, "postgres.log"),
    passwordFile: join(dataDir, "postgres.password"),
    onProcess,
    ...(yield* passwordIn(join(dataDir, "postgres.password")))
  } satisfies Cluster
  const version = yield* clusterVersion(folder)
  if (version === undefined) {
    yield* makeCluster(cluster)
    return { ...cluster, passwordIsNew: false } satisfies Cluster
  }
  const serverVersion = cluster.binaries.version
  if (version !== serverVersion.split(".")[0]) {
    return yield* new VersionMismatch({ folder: dataDir, clusterVersion: version, serverVersion })
  }
  yield* chownBack(cluster)
  return cluster
})

/** Sets the new password in a cluster whose password file was lost. The server must not be running. */
export const renewPassword = Effect.fnUntraced(function* (cluster: Cluster) {
  const password = Redacted.value(cluster.password)
  yield* runSql(cluster, [], ...[ROLE, OWNER_ROLE].map((role) => `ALTER ROLE ${role} PASSWORD '${password}';`))
  yield* keepPassword(cluster)
})

/**
 * Creates the cluster in a draft folder beside its final path and renames it when it is complete and on disk. The
 * server's single-user mode creates the roles and the database, so that no client can connect before there is a
 * password.
 */
const makeCluster = Effect.fnUntraced(function* (cluster: Cluster) {
  const { account, dataDir, folder } = cluster
  yield* removeLeftovers(dataDir, DRAFT_PREFIX)
  yield* requireEmpty(folder)
  const draft = yield* onDisk(dataDir, async () => {
    const made = await mkdtemp(join(dataDir, DRAFT_PREFIX))
    if (account !== undefined) await chown(made, account.uid, account.gid)
    return made
  })
  const there = {
    ...cluster,
    folder: draft,
    folderForServer: cluster.folderForServer === folder ? draft : cluster.folderForServer
  }
  yield* Effect.gen(function* () {
    yield* runInitdb(there, [...initdbOptions, "--no-sync"])
    yield* runSql(
      there,
      ["-c", "fsync=off"],
      ...[ROLE, OWNER_ROLE].map((role) => `CREATE ROLE ${role} LOGIN PASSWORD '${Redacted.value(cluster.password)}';`),
      `GRANT pg_monitor TO ${ROLE};`,
      `CREATE DATABASE ${DATABASE} OWNER ${OWNER_ROLE};`
    )
    yield* onDisk(dataDir, async () => {
      await writeFile(join(draft, "pg_hba.conf"), accessRules)
      await appendFile(join(draft, "postgresql.conf"), `\ninclude '${SETTINGS_FILE}'\n`)
    })
    yield* runInitdb(there, ["--sync-only", ...(platform() === "linux" ? ["--sync-method=syncfs"] : [])])
    yield* keepPassword(cluster)
    yield* onDisk(dataDir, async () => {
      await rename(draft, folder)
      await syncFolder(dataDir)
    })
  }).pipe(Effect.onError(() => removeLeftovers(dataDir, DRAFT_PREFIX)))
})

const runInitdb = (cluster: Cluster, options: ReadonlyArray<string>) =>
  runTool(cluster, cluster.binaries.initdb, ["-D", cluster.folderForServer, ...options])

const runSql = (cluster: Cluster, options: ReadonlyArray<string>, ...statements: ReadonlyArray<string>) =>
  runTool(
    cluster,
    cluster.binaries.postgres,
    ["--single", "-D", cluster.folderForServer, ...options, ...QUIET_AND_STRICT, "postgres"],
    `${statements.join("\n")}\n`
  )

const QUIET_AND_STRICT = ["-c", "exit_on_error=on", "-c", "log_min_error_statement=panic"]

const runTool = Effect.fnUntraced(function* (cluster: Cluster, file: string, args: ReadonlyArray<string>, input = "") {
  const { account, folder, onProcess } = cluster
  const { ok, output } = yield* run({ file, args, folder, account, input, secondsMax: TOOL_SECONDS_MAX, onProcess })
  if (!ok) return yield* rejectionOf(cluster, output)
})

/** Linux only: /proc/self/cwd leads to the working directory of the process, regardless of permissions on its parents. */
const folderNameFor = Effect.fnUntraced(function* (
  folder: string,
  dataDir: string,
  account: ServerAccount | undefined
) {
  if (!(yield* closedTo(dataDir, account))) return folder
  if (platform() === "linux") return "/proc/self/cwd"
  return yield* new FolderUnusable({
    folder: dataDir,
    problem: "PostgreSQL, which does not run as root, cannot enter it; start the service as an ordinary user"
  })
})

const clusterVersion = (folder: string) =>
  onDisk(folder, () =>
    readFile(join(folder, "PG_VERSION"), "utf8").then(
      (text) => text.trim(),
      (cause: NodeJS.ErrnoException) => {
        if (cause.code === "ENOENT") return undefined
        throw cause
      }
    )
  )

/**
 * Removes an empty folder at the path of the cluster. A mount point cannot be used: the draft is renamed to this path.
 */
const requireEmpty = Effect.fnUntraced(function* (folder: string) {
  const names = yield* onDisk(folder, () =>
    readdir(folder).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === "ENOENT") return undefined
      throw cause
    })
  )
  if (names === undefined) return
  if (names.length > 0) {
    return yield* new FolderUnusable({ folder, problem: "it holds files, but no PostgreSQL cluster" })
  }
  yield* onDisk(folder, () => rmdir(folder))
})

/** Gives the cluster folder to the server's account: a folder that root has copied belongs to root. */
const chownBack = Effect.fnUntraced(function* ({ account, folder }: Cluster) {
  if (account === undefined) return
  yield* onDisk(folder, async () => {
    const { uid } = await stat(folder)
    if (uid === account.uid) return
    for (const entry of await readdir(folder, { recursive: true })) {
      await lchown(join(folder, entry), account.uid, account.gid)
    }
    await chmod(folder, 0o700)
    await chown(folder, account.uid, account.gid)
  })
})

const passwordIn = (file: string) =>
  Effect.tryPromise(() => readFile(file, "utf8")).pipe(
    Effect.orElseSucceed(() => ""),
    Effect.map((text) => {
      const kept = text.trim()
      return passwordShape.test(kept)
        ? { password: Redacted.make(kept), passwordIsNew: false }
        : { password: Redacted.make(randomBytes(32).toString("hex")), passwordIsNew: true }
    })
  )

const keepPassword = (cluster: Cluster) =>
  writeDurably(cluster.passwordFile, `${Redacted.value(cluster.password)}\n`, 0o600)

export const isDiskFull = (output: string): boolean => /No space left on device|Disk quota exceeded/u.test(output)

const rejectionOf = (cluster: Cluster, output: string): DiskFull | StartFailed => {
  if (isDiskFull(output)) return new DiskFull({ folder: cluster.dataDir })
  const lines = output.split("\n").filter((line) => line !== "")
  const telling =
    lines.find((line) => /error:|FATAL:|PANIC:/u.test(line)) ?? lines.at(-1) ?? "it wrote no error message"
  return new StartFailed({ problem: telling.replace(/^.*?(?:error|FATAL|PANIC):\s*/u, ""), logFile: cluster.logFile })
}
