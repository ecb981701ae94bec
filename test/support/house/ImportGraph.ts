/**
 * The imports of the project's sources, and what is wrong with them: imports that cross a layer, imports that go up the order of the
 * domain's rooms, and folders that import each other, directly or around.
 */
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, posix, relative } from "node:path"
import { projectRoot } from "../project/PlantedProject.ts"

/** Sources by their path from the root. */
export type Sources = ReadonlyMap<string, string>

export interface Import {
  readonly from: string
  /** The path from the root of a file of the project, or the name of a package. */
  readonly to: string
  readonly specifier: string
  readonly isType: boolean
}

const LAYERS = ["adapters", "client", "domain", "migrations", "src", "testing"]

export const projectSources = (folders: ReadonlyArray<string> = LAYERS): Sources =>
  new Map(
    folders.flatMap((folder) =>
      readdirSync(join(projectRoot, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
        .map(({ name, parentPath }) => {
          const path = join(parentPath, name)
          return [relative(projectRoot, path), readFileSync(path, "utf8")] as const
        })
    )
  )

// One that a comment or a text contains is found too, so a file that generates imports has to build their specifiers.
const IMPORT =
  /(?:^|[\n;])\s*(?:import|export)\s+(type\s)?(?:[\w$*\s,]|\{[^}]*\})*?(?:from\s*)?["']([^"'\n]+)["']|import\(\s*["']([^"'\n]+)["']\s*\)/gu

export const importsIn = (path: string, text: string): ReadonlyArray<Import> =>
  [...text.matchAll(IMPORT)].map(([, type, statement, dynamic]) => {
    const specifier = statement ?? dynamic ?? ""
    const to = specifier.startsWith(".") ? posix.normalize(posix.join(dirname(path), specifier)) : specifier
    return { from: path, to, specifier, isType: type !== undefined }
  })

const importsOf = (sources: Sources) => [...sources].flatMap(([path, text]) => importsIn(path, text))

const shown = ({ from, specifier }: Import): string => `${from} imports ${specifier}`

const isBrowserModule = (path: string): boolean => path.endsWith(".browser.ts")
const adapterOf = (path: string): string => path.split("/")[1] ?? ""

/** Effect 4 has these as modules of its own. */
const GONE = /^@effect\/(?:platform|sql|schema)(?:\/|$)|^effect\/unstable(?:\/|$)/u
const RUNNERS = /^@effect\/vitest|^vitest/u
const BROWSER_LIBRARIES = /^(?:preact|uplot|@preact\/signals)(?:\/|$)/u
const CONTRACT = /^adapters\/http\/\w+\/\w+\.ts$/u

/** Which imports each layer may have, beside those of its own folder. */
const mayImport = (one: Import): boolean => {
  const { from, isType, to } = one
  const [layer] = from.split("/")
  const isOwn = one.specifier.startsWith(".")
  const top = isOwn ? (to.split("/")[0] ?? "") : undefined
  if (isBrowserModule(from)) {
    if (!isOwn) return BROWSER_LIBRARIES.test(to)
    return (to.startsWith("adapters/site/") && isBrowserModule(to)) || (isType && CONTRACT.test(to))
  }
  switch (layer) {
    case "domain":
      return isOwn ? top === "domain" : to === "effect"
    case "adapters": {
      if (!isOwn || top === "domain") return true
      if (isBrowserModule(to)) return false
      const adapter = adapterOf(from)
      return top === "adapters" && (adapterOf(to) === adapter || (adapter === "site" && adapterOf(to) === "http"))
    }
    case "migrations":
      return isOwn ? top === "migrations" : /^(?:effect|@effect)(?:\/|$)/u.test(to)
    case "client":
      return top === "client" || to === "adapters/site/verify/ReceiptVerifier.browser.ts"
    case "testing":
      return top !== "test" && !RUNNERS.test(to)
    default:
      return top !== "test"
  }
}

/** A file has one name: its shortest path, and no name by the package. */
const isShortest = ({ from, specifier, to }: Import): boolean => {
  if (!specifier.startsWith(".")) return !/^\/|^file:|^data:|^[a-z]:|^agent-tool-billing(?:\/|$)/u.test(specifier)
  const shortest = posix.relative(dirname(from), to)
  return specifier === (shortest.startsWith(".") ? shortest : `./${shortest}`)
}

export const layerFaults = (sources: Sources): ReadonlyArray<string> =>
  importsOf(sources)
    .filter((one) => GONE.test(one.to) || !isShortest(one) || !mayImport(one))
    .map(shown)

/** Imports of the domain that do not go down the order, and rooms that it lacks. */
export const orderFaults = (sources: Sources, order: ReadonlyArray<string>): ReadonlyArray<string> => {
  const placeOf = (path: string) => order.indexOf(path.split("/")[1] ?? "")
  const ofDomain = importsOf(sources).filter(({ from, to }) => from.startsWith("domain/") && to.startsWith("domain/"))
  const unplaced = [...sources.keys()].filter((path) => path.startsWith("domain/") && placeOf(path) === -1)
  const upward = ofDomain.filter(({ from, to }) => {
    const [place, other] = [placeOf(from), placeOf(to)]
    return place !== other && other > place
  })
  return [...unplaced.map((path) => `${path} is in no room of the order`), ...upward.map(shown)]
}

/** Each knot of folders that reach each other, with the imports that tie it. */
export const knots = (sources: Sources): ReadonlyArray<string> => {
  const ties = importsOf(sources).filter(
    ({ from, specifier, to }) => specifier.startsWith(".") && dirname(from) !== dirname(to)
  )
  const next = new Map<string, Set<string>>()
  for (const { from, to } of ties) {
    const below = next.get(dirname(from)) ?? new Set()
    next.set(dirname(from), below.add(dirname(to)))
  }
  const reaches = (start: string): ReadonlySet<string> => {
    const found = new Set<string>()
    const open = [start]
    for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
      for (const below of next.get(folder) ?? []) {
        if (!found.has(below)) {
          found.add(below)
          open.push(below)
        }
      }
    }
    return found
  }
  const reached = new Map([...next.keys()].map((folder) => [folder, reaches(folder)]))
  return ties
    .filter(({ from, to }) => reached.get(dirname(to))?.has(dirname(from)) === true)
    .map((one) => `${shown(one)}, and ${dirname(one.to)} reaches ${dirname(one.from)}`)
}
