/**
 * The entries of the package and the modules that it opens by patterns: what each exports, and the module and comment of
 * every export.
 */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import manifest from "../../../package.json" with { type: "json" }
import { projectRoot } from "../project/PlantedProject.ts"

export interface Exported {
  /** What other programs import. */
  readonly name: string
  /** Its name in its module. */
  readonly own: string
  /** `domain/metering/Metering` */
  readonly module: string
}

export interface Entry {
  /** `agent-tool-billing/core`, `agent-tool-billing/domain/metering/Metering` */
  readonly name: string
  /** `src/entries/core`, `domain/metering/Metering` */
  readonly module: string
  readonly exports: ReadonlyArray<Exported>
}

const texts = new Map<string, string>()

export const readModule = (module: string): string => {
  const text = texts.get(module) ?? readFileSync(join(projectRoot, `${module}.ts`), "utf8")
  texts.set(module, text)
  return text
}

const moduleOf = (built: string): string => built.replace(/^\.\/dist\//u, "").replace(/\.js$/u, "")

/** Those with a path of their own. */
export const entries = (): ReadonlyArray<Entry> =>
  Object.entries(manifest.exports).flatMap(([path, built]) =>
    built === null || !built.endsWith(".js") || path.includes("*")
      ? []
      : [{ name: path.replace(".", manifest.name), module: moduleOf(built), exports: exportsOf(moduleOf(built)) }]
  )

const PATTERNS = Object.entries(manifest.exports)
  .filter(([path]) => path.endsWith("/*"))
  .map(([path, built]) => ({ folder: path.slice("./".length, -"*".length), isOpen: built !== null }))
  .toSorted((one, other) => other.folder.length - one.folder.length)

/** What programs import by its path, such as `agent-tool-billing/domain/metering/Metering`: the longest pattern decides. */
export const modules = (): ReadonlyArray<Entry> =>
  globSync("{adapters,domain}/**/*.ts", { cwd: projectRoot })
    .map((file) => file.replaceAll("\\", "/").slice(0, -".ts".length))
    .filter((module) => !module.endsWith(".browser"))
    .filter((module) => PATTERNS.find(({ folder }) => module.startsWith(folder))?.isOpen === true)
    .toSorted()
    .map((module) => ({ name: `${manifest.name}/${module}`, module, exports: exportsOf(module) }))

const REEXPORT = /^export (?:type )?\{([^}]+)\} from "([^"]+)\.ts"$/gmu
const DECLARED = /^export (?:const|class|function|interface|type) (\w+)/gmu

const exportsOf = (module: string): ReadonlyArray<Exported> => {
  const text = readModule(module)
  const reexported = [...text.matchAll(REEXPORT)].flatMap(([, names, from]) =>
    names!.split(",").flatMap((one): ReadonlyArray<Exported> => {
      const [own, name = own] = one
        .replace("type ", "")
        .split(" as ")
        .map((part) => part.trim())
      return own === undefined || own === "" ? [] : [{ name: name!, own, module: pathFrom(module, from!) }]
    })
  )
  const declared = new Set([...text.matchAll(DECLARED)].map(([, name]) => name!))
  return [...reexported, ...[...declared].map((name) => ({ name, own: name, module }))]
}

const pathFrom = (module: string, relative: string): string => join(module, "..", relative).replaceAll("\\", "/")

/** The comment at the head of a file, in one line. */
export const purposeOf = (text: string): string =>
  (/^\/\*\*(.*?)\*\//su.exec(text)?.[1] ?? "")
    .split("\n")
    .map((line) => line.replace(/^ \*/u, "").trim())
    .filter(Boolean)
    .join(" ")

export type Kind = "port" | "service" | "error" | "setting" | "type" | "value"

/** The text of a class, to the line that ends it. */
const classOf = (text: string, own: string): string => {
  const from = text.indexOf(`export class ${own} extends`)
  return text.slice(from, from + text.slice(from).search(/^\S.*\{\}$|^\}$/mu))
}

/** What a service or a port offers, without comments: the text of its type. */
export const shapeOf = ({ module, own }: Exported): string =>
  interfaceIn(readModule(module), own).replaceAll(/\/\*.*?\*\//gsu, "")

/** The type of a service as its class names it. */
export const interfaceIn = (text: string, own: string): string =>
  new RegExp(`^export class ${own} extends Context\\.Service<\\s*${own},\\s*(.+?)\\s*>\\(\\)\\(`, "msu").exec(
    text
  )?.[1] ?? ""

/** A schema and its type share a name: it counts as a value. */
export const kindOf = ({ module, own }: Exported): Kind => {
  const text = readModule(module)
  const declared = (form: string) => new RegExp(`^export ${form}`, "mu").test(text)
  if (declared(`class ${own} extends Context\\.Service<`)) {
    const shape = classOf(text, own)
    if (/\bstatic readonly layer\b/u.test(shape)) return "service"
    return /\bEffect\.|=>|\w\(.*\): /u.test(shape) ? "port" : "setting"
  }
  if (declared(`class ${own} extends Schema\\.TaggedError<`)) return "error"
  if (declared(`const ${own}\\b.*= Context\\.Reference\\b`)) return "setting"
  return declared(`(?:const|class|function) ${own}\\b`) ? "value" : "type"
}

/** Its own comment; the main export of a file may have the one at the head. Empty without either. */
export const commentOf = ({ module, own }: Exported): string => {
  const text = readModule(module)
  const before = new RegExp(
    `/\\*\\*((?:(?!\\*/).)*)\\*/\\nexport (?:const|class|function|interface|type) ${own}\\b`,
    "su"
  )
  const comment = before.exec(text)?.[1]
  if (comment !== undefined) return comment.replaceAll(/\s*\n \*/gu, "").trim()
  return isMain({ module, own }) ? purposeOf(text) : ""
}

/** `layer` of an adapter's file, or the namesake of the file: `core` of `Core`. */
const isMain = ({ module, own }: Pick<Exported, "module" | "own">): boolean =>
  own === "layer" || module.slice(module.lastIndexOf("/") + 1) === `${own[0]!.toUpperCase()}${own.slice(1)}`
