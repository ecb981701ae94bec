/**
 * The service as one bundle, made once for each state of the sources. It starts with 40% of the processor time of a start
 * from source, whose thousand modules are each found, read and linked. Tests that are about a start itself start the sources.
 */
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { globSync, readFileSync } from "node:fs"
import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"

const ROOT = join(import.meta.dirname, "../../..")
const BUNDLER = "test/support/servers/bundleService.ts"
const SOURCES = ["{adapters,client,domain,migrations,src}/**/*.ts", "CHANGELOG.md", "package-lock.json", BUNDLER]
const BUNDLES = join(ROOT, "node_modules/.cache/service")
const KEPT_MS = 86_400_000

export interface ServiceBundle {
  /** Instead of `src/main.ts`. */
  readonly main: string
  /** Where Node caches its compiled code: tests start the service again and again. */
  readonly compiled: string
}

let made: Promise<ServiceBundle> | undefined

export const serviceBundle = (): Promise<ServiceBundle> => (made ??= make())

const make = async (): Promise<ServiceBundle> => {
  const folder = join(BUNDLES, stateOfSources())
  const bundle: ServiceBundle = { main: join(folder, "dist/src/main.js"), compiled: join(folder, "compiled") }
  if (await exists(bundle.main)) return bundle
  await mkdir(BUNDLES, { recursive: true })
  await removeOld()
  const part = await mkdtemp(join(BUNDLES, "part-"))
  // Some tests start the service as another account.
  await chmod(part, 0o755)
  await promisify(execFile)(process.execPath, [BUNDLER, part], { cwd: ROOT })
  // Another worker of the run may have made the same.
  await rename(part, folder).catch(() => rm(part, { recursive: true }))
  return bundle
}

const stateOfSources = (): string => {
  const hash = createHash("sha256")
  for (const file of globSync(SOURCES, { cwd: ROOT }).toSorted()) {
    hash.update(`${file}\n`).update(readFileSync(join(ROOT, file)))
  }
  return hash.digest("hex").slice(0, 32)
}

const removeOld = async (): Promise<void> => {
  for (const name of await readdir(BUNDLES)) {
    const { mtimeMs } = await stat(join(BUNDLES, name)).catch(() => ({ mtimeMs: Infinity }))
    if (mtimeMs < Date.now() - KEPT_MS) await rm(join(BUNDLES, name), { recursive: true, force: true })
  }
}

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false
  )
