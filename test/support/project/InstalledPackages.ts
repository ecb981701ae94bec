/**
 * What npm installs for some packages, by the lock file, and how large it is.
 */
import { lstat, readdir, readFile, realpath } from "node:fs/promises"
import { join } from "node:path"
import { projectRoot } from "./PlantedProject.ts"

export const MEGABYTE = 1_000_000

interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** Folders of the packages, relative to the project's. */
export const installedFor = async (names: ReadonlyArray<string>): Promise<ReadonlySet<string>> => {
  const { packages } = JSON.parse(await readFile(join(projectRoot, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, Locked>>
  }
  const found = new Set<string>()
  const visit = (name: string, from: string): void => {
    const place = `${from === "" ? "" : `${from}/`}node_modules/${name}`
    if (packages[place] === undefined) {
      if (from !== "") visit(name, from.slice(0, Math.max(0, from.lastIndexOf("/node_modules/"))))
      return
    }
    if (found.has(place)) return
    found.add(place)
    const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = packages[place]
    const peers = Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional !== true)
    for (const next of [...Object.keys(dependencies), ...peers]) visit(next, place)
  }
  for (const name of names) visit(name, "")
  return found
}

/** As `du --apparent-size`. */
export const bytesIn = async (folder: string): Promise<number> => {
  let bytes = 0
  for (const entry of await readdir(await realpath(folder), { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += (await lstat(join(entry.parentPath, entry.name))).size
  }
  return bytes
}
