/**
 * The server's configuration. Durability settings are PostgreSQL's defaults: `fsync`, `synchronous_commit` and
 * `full_page_writes` are on. The file is written at every start; to change a value, set it in postgresql.conf below the
 * `include` of this file.
 */
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { createServer } from "node:net"
import { platform } from "node:os"
import { join } from "node:path"
import { onDisk, removeLeftovers, writeDurably } from "./Disk.ts"

export const SETTINGS_FILE = "service.conf"

interface ServerSettings {
  readonly port: number
  readonly version: string
  readonly hasSocket: boolean
}

export const settings = ({ hasSocket, port, version }: ServerSettings): string =>
  `# PostgreSQL ${version}. Written by the service at every start: put your own values into postgresql.conf.
listen_addresses = '127.0.0.1'
port = ${port}
unix_socket_directories = '${hasSocket ? "." : ""}'
cluster_name = 'agent-tool-billing'
max_connections = 100
shared_buffers = 128MB
fsync = on
synchronous_commit = on
full_page_writes = on
wal_level = replica
max_wal_size = 1GB
min_wal_size = 256MB
jit = off
io_method = sync
max_parallel_workers_per_gather = 0
max_logical_replication_workers = 0
timezone = 'UTC'
log_timezone = 'UTC'
log_destination = 'stderr'
logging_collector = off
log_line_prefix = '%m [%p] '
log_checkpoints = off
# Neither statements nor their values: they name customers and hold key hashes.
log_error_verbosity = terse
log_min_error_statement = panic
${platform() === "linux" ? "# After a crash one call instead of a thousand, each waiting for the disk.\nrecovery_init_sync_method = syncfs\n" : ""}`

const SOCKET_RULE = "local all all scram-sha-256\n"

/** Loopback or the socket, and a password, for the service's role and for every other role. */
export const accessRules = `host all all 127.0.0.1/32 scram-sha-256\n${SOCKET_RULE}`

/**
 * Text is UTF-8, sorted by code point, with upper and lower case for all of Unicode. Both are built into the server, so
 * that an upgrade of the operating system cannot change the order of an index.
 */
export const initdbOptions: ReadonlyArray<string> = [
  "--username=postgres",
  "--auth=trust",
  "--encoding=UTF8",
  "--locale=C",
  "--locale-provider=builtin",
  "--builtin-locale=C.UTF-8",
  "--no-instructions"
]

// The service reaches its server by a Unix socket in the cluster folder, which costs less than TCP. Not every folder can
// hold one: its path may be too long, and some shared folders of virtual machines reject sockets. There it is TCP.

/** Its path is as long as that of a socket in the cluster folder, which may not exist yet. */
const PROBE = "postgres-.s.PGSQL.probe"

/** Tries it in the data folder. */
export const canHoldSocket = Effect.fnUntraced(function* (dataDir: string) {
  if (platform() === "win32") return false
  yield* removeLeftovers(dataDir, PROBE)
  return yield* Effect.callback<boolean>((resume) => {
    const probe = createServer()
    const end = (works: boolean) => resume(Effect.succeed(works))
    probe.once("error", () => end(false))
    probe.listen(join(dataDir, PROBE), () => probe.close(() => end(true)))
  })
})

/** Lets clients log in over the socket of a cluster that was created before there were sockets. */
export const allowSocket = Effect.fnUntraced(function* (folder: string) {
  const file = join(folder, "pg_hba.conf")
  const rules = yield* onDisk(folder, () => readFile(file, "utf8"))
  if (!rules.includes(SOCKET_RULE)) yield* writeDurably(file, `${rules.trimEnd()}\n${SOCKET_RULE}`, 0o644)
})
