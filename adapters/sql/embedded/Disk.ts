/**
 * Work on the data folder, with errors of the operating system as typed reasons.
 */
import { Effect, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import { lstat, mkdir, open, readdir, realpath, rename, rm, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { DiskFull, FolderInUse, FolderUnusable } from "./EmbeddedPostgresError.ts"

export const onDisk = <A>(folder: string, work: () => Promise<A>): Effect.Effect<A, FolderUnusable | DiskFull> =>
  Effect.tryPromise({ try: work, catch: (cause) => rejectionOf(folder, cause) })

/** Creates the folder with its parents, and returns its real path. */
export const makeFolder = (folder: string): Effect.Effect<string, FolderUnusable | DiskFull> =>
  onDisk(folder, async () => {
    await makeFolders(folder)
    return realpath(folder)
  })

/**
 * After a power failure the file has either the whole new text or the old one. The mode does not depend on the umask.
 */
export const writeDurably = (
  file: string,
  text: string,
  mode: number
): Effect.Effect<void, FolderUnusable | DiskFull> =>
  onDisk(dirname(file), async () => {
    const draft = `${file}.${randomBytes(6).toString("hex")}`
    const handle = await open(draft, "wx", mode)
    try {
      await handle.chmod(mode)
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, file)
    await syncFolder(dirname(file))
  })

/** Makes a rename or a new name in the folder durable. */
export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Best effort: leftovers of an interrupted run only take space, and the next start tries again. */
export const removeLeftovers = (folder: string, prefix: string): Effect.Effect<void> =>
  Effect.promise(async () => {
    for (const name of await readdir(folder)) {
      if (name.startsWith(prefix)) await rm(join(folder, name), { recursive: true, force: true, maxRetries: 5 })
    }
  }).pipe(Effect.ignoreCause)

/** Node's recursive `mkdir` does not return where a folder cannot be created in its parent, such as below /proc. */
const makeFolders = async (folder: string): Promise<void> => {
  try {
    await mkdir(folder)
  } catch (cause) {
    if (errorCode(cause) === "EEXIST" && (await stat(folder)).isDirectory()) return
    if (errorCode(cause) !== "ENOENT" || (await exists(dirname(folder)))) throw cause
    await makeFolders(dirname(folder))
    await mkdir(folder)
  }
}

export const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false
  )

export const errorCode = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : ""

export const sentenceOf = (cause: unknown): string =>
  sentences[errorCode(cause)] ?? (cause instanceof Error ? cause.message : String(cause))

const rejectionOf = (folder: string, cause: unknown): FolderUnusable | DiskFull =>
  ["ENOSPC", "EDQUOT"].includes(errorCode(cause))
    ? new DiskFull({ folder })
    : new FolderUnusable({ folder, problem: sentenceOf(cause) })

const sentences: Readonly<Record<string, string>> = {
  EACCES: "this account has no permission to use it",
  EPERM: "this account has no permission to use it",
  EROFS: "its file system is read-only",
  EEXIST: "a file of that name is in its place",
  ENOTDIR: "a file is where a folder should be",
  ENOENT: "it does not exist and cannot be created there",
  ELOOP: "its symbolic links form a loop",
  ENAMETOOLONG: "its name is too long",
  EBUSY: "the system uses it, for example as a mount point"
}

// Allows one service per data folder. Node has no file lock, but its SQLite has one: the kernel holds it and releases
// it when the process ends in any way, and it works across containers, where process ids mean nothing.

const SQLITE_BUSY = 5
const SQLITE_FULL = 13

/** Holds it until the scope closes. */
export const ownFolder = (dataDir: string): Effect.Effect<void, FolderInUse | FolderUnusable | DiskFull, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.try({ try: () => lock(join(dataDir, "service.lock")), catch: (cause) => lockRejectionOf(dataDir, cause) }),
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

const lockRejectionOf = (folder: string, cause: unknown): FolderInUse | DiskFull | FolderUnusable => {
  const code = cause instanceof Error && "errcode" in cause ? cause.errcode : undefined
  if (code === SQLITE_BUSY) return new FolderInUse({ folder, ownerPid: ownerPid(folder) })
  if (code === SQLITE_FULL) return new DiskFull({ folder })
  return new FolderUnusable({ folder, problem: `its file service.lock cannot be locked (${sentenceOf(cause)})` })
}

/** Serves the error message only: the lock decides who owns the folder. */
const ownerPid = (dataDir: string): number | null => {
  try {
    const pid = Number(readFileSync(pidFile(dataDir), "utf8"))
    return Number.isSafeInteger(pid) && pid > 0 ? pid : null
  } catch {
    return null
  }
}

const pidFile = (dataDir: string): string => join(dataDir, "service.pid")
