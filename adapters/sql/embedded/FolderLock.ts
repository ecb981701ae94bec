/**
 * Allows one service per data folder. Node has no file lock, but its SQLite has one: the kernel holds it and releases
 * it when the process ends in any way, and it works across containers, where process ids mean nothing.
 */
import { Effect, type Scope } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { sentenceOf, writeDurably } from "./Disk.ts"
import { DiskFull, FolderInUse, FolderUnusable } from "./EmbeddedPostgresError.ts"

const SQLITE_BUSY = 5
const SQLITE_FULL = 13

/** Held until the scope closes. */
export const ownFolder = (dataDir: string): Effect.Effect<void, FolderInUse | FolderUnusable | DiskFull, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.try({ try: () => lock(join(dataDir, "service.lock")), catch: (cause) => rejectionOf(dataDir, cause) }),
    (database) => Effect.sync(() => database.close())
  ).pipe(Effect.andThen(writeDurably(pidFile(dataDir), `${process.pid}\n`, 0o644)))

const lock = (file: string): DatabaseSync => {
  const database = new DatabaseSync(file, { timeout: 0 })
  try {
    database.exec("BEGIN EXCLUSIVE")
    return database
  } catch (cause) {
    database.close()
    throw cause
  }
}

const rejectionOf = (folder: string, cause: unknown): FolderInUse | DiskFull | FolderUnusable => {
  const code = cause instanceof Error && "errcode" in cause ? cause.errcode : undefined
  if (code === SQLITE_BUSY) return new FolderInUse({ folder, ownerPid: ownerPid(folder) })
  if (code === SQLITE_FULL) return new DiskFull({ folder })
  return new FolderUnusable({ folder, problem: `its file service.lock cannot be locked (${sentenceOf(cause)})` })
}

/** Only for the error message: the lock decides who owns the folder. */
const ownerPid = (dataDir: string): number | null => {
  try {
    const pid = Number(readFileSync(pidFile(dataDir), "utf8"))
    return Number.isSafeInteger(pid) && pid > 0 ? pid : null
  } catch {
    return null
  }
}

const pidFile = (dataDir: string): string => join(dataDir, "service.pid")
