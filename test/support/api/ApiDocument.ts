/**
 * The text of docs/api.md, extracted from the sources: the purpose of each module of the core, its services and ports
 * verbatim, its errors and other exports, and the adapters that have a layer.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "../PlantedProject.ts"

interface Module {
  /** `domain/metering/Metering` */
  readonly path: string
  readonly text: string
}

export const apiDocument = (): string =>
  [
    INTRODUCTION,
    frontDoor(),
    ...byFolder(modulesOf("domain")).map(([folder, modules]) =>
      [`## ${folder}`, ...modules.map(described)].join("\n\n")
    ),
    "## Adapters",
    "Each module has a `layer`, or a function that makes one of its settings.",
    ...byFolder(modulesOf("adapters").filter(hasLayer)).map(([folder, modules]) => listed(folder, modules))
  ]
    .join("\n\n")
    .concat("\n")

const INTRODUCTION = `# API

Made from the sources by \`npm run api-docs\`; [embedding.md](embedding.md) shows how to use it. A module is imported by its path:
\`agent-tool-billing/domain/metering/Metering\`. A *service* has a \`layer\` that asks for ports; a *port* is implemented by adapters, or by
you. The HTTP API documents itself: \`/docs\`, \`/api/openapi.json\`.`

const read = (path: string): string => readFileSync(join(projectRoot, path), "utf8")

const modulesOf = (room: string): ReadonlyArray<Module> =>
  readdirSync(join(projectRoot, room), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `${room}/${name.replaceAll("\\", "/").slice(0, -".ts".length)}`)
    .toSorted()
    .map((path) => ({ path, text: read(`${path}.ts`) }))

const folderOf = ({ path }: Module): string => path.slice(0, path.lastIndexOf("/"))
const nameOf = ({ path }: Module): string => path.slice(path.lastIndexOf("/") + 1)

const byFolder = (modules: ReadonlyArray<Module>): ReadonlyArray<readonly [string, ReadonlyArray<Module>]> =>
  [...Map.groupBy(modules, folderOf)].toSorted(([a], [b]) => (a < b ? -1 : 1))

const hasLayer = ({ text }: Module): boolean => /^export const layer\b|^ {2}static readonly layer\b/mu.test(text)

/** The comment at the head of a file, in one line. */
const purposeOf = ({ text }: Module): string =>
  (/^\/\*\*(.*?)\*\//su.exec(text)?.[1] ?? "")
    .split("\n")
    .map((line) => line.replace(/^ \*/u, "").trim())
    .filter(Boolean)
    .join(" ")

const frontDoor = (): string => {
  const exported = [...read("src/index.ts").matchAll(/^export \{ (.+) \} from "\.\/(.+)\.ts"$/gmu)]
  const lines = exported.map(([, names, path]) => {
    const module = { path: `src/${path!}`, text: read(`src/${path!}.ts`) }
    const shown = names!.split(", ").map((name) => `\`${name.replace("type ", "")}\``)
    return `- ${shown.join(", ")}: ${purposeOf(module)}`
  })
  return ["## agent-tool-billing", lines.join("\n")].join("\n\n")
}

const described = (module: Module): string => {
  const services = [...module.text.matchAll(SERVICE)].map(
    ([, name, shape]) => `${headOf(name!, shape!)} ${dedented(shape!)}`
  )
  const errors = namesOf(module, ERROR)
  const settings = namesOf(module, REFERENCE)
  const known = new Set([...namesOf(module, SERVICE), ...errors, ...settings])
  const others = namesOf(module, EXPORT).filter((name) => !known.has(name))
  const kind = services.length === 0 ? "" : hasLayer(module) ? " (service)" : " (port)"
  return [
    `### ${nameOf(module)}${kind}`,
    purposeOf(module),
    ...(services.length === 0 ? [] : [`\`\`\`ts\n${services.join("\n\n")}\n\`\`\``]),
    ...sentence("Errors", errors),
    ...sentence("Settings", settings),
    ...sentence(services.length + errors.length + settings.length === 0 ? "Exports" : "Also", others)
  ].join("\n\n")
}

const SERVICE = /^export class (\w+) extends Context\.Service<\s*\1,\s*(.+?)\s*>\(\)\(/gmsu
const ERROR = /^export class (\w+) extends Schema\.TaggedError</gmu
const REFERENCE = /^export const (\w+) = Context\.Reference\b/gmu
const EXPORT = /^export (?:const|class|interface|type|function) (\w+)/gmu

const namesOf = ({ text }: Module, pattern: RegExp): ReadonlyArray<string> => [
  ...new Set([...text.matchAll(pattern)].map(([, name]) => name!))
]

const sentence = (label: string, names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.length === 0 ? [] : [`${label}: ${names.map((name) => `\`${name}\``).join(", ")}.`]

/** Indented as its last line, the closing brace. */
const headOf = (name: string, shape: string): string =>
  shape.trimStart().startsWith("{") ? `interface ${name}` : `type ${name} =`

const dedented = (shape: string): string => {
  const indent = /^ */u.exec(shape.split("\n").at(-1)!)![0]
  return shape.replaceAll(new RegExp(`^${indent}`, "gmu"), "")
}

const listed = (folder: string, modules: ReadonlyArray<Module>): string =>
  [`### ${folder}`, modules.map((module) => `- \`${nameOf(module)}\`: ${purposeOf(module)}`).join("\n")].join("\n\n")
