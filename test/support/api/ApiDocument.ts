/**
 * The text of docs/api.md, extracted from the sources: the entries of the package, and for the core and its ports every
 * module with its purpose, its services and ports verbatim, its errors, settings and other exports.
 */
import { commentOf, entries, type Entry, type Exported, kindOf, purposeOf, readModule } from "./Entries.ts"

export const apiDocument = (): string => {
  const all = entries()
  return [INTRODUCTION, ...all.map(entryText)].join("\n\n").concat("\n")
}

const INTRODUCTION = `# API

Generated from the sources by \`npm run api-docs\`; [embedding.md](embedding.md) and [clients.md](clients.md) show how to use it. A
*service* has policy; a *port* is implemented by adapters, or by you; a *setting* is a reference with a default. The HTTP API
documents itself: \`/docs\`, \`/api/openapi.json\`.`

/** Entries of many modules, which are described one by one. */
const BY_MODULE = new Set(["src/entries/core", "src/entries/ports"])

const entryText = (entry: Entry): string =>
  [
    `## ${entry.name}`,
    purposeOf(readModule(entry.module)),
    ...(BY_MODULE.has(entry.module) ? modulesOf(entry) : listOf(entry))
  ].join("\n\n")

const modulesOf = ({ exports }: Entry): ReadonlyArray<string> =>
  [...Map.groupBy(exports, ({ module }) => module)].map(([module, exported]) => described(module, exported))

const listOf = ({ exports }: Entry): ReadonlyArray<string> => [
  exports
    .map((one) => {
      const comment = commentOf(one)
      return `- \`${one.name}\`${comment === "" ? "" : `: ${comment}`}`
    })
    .join("\n")
]

const described = (module: string, exported: ReadonlyArray<Exported>): string => {
  const text = readModule(module)
  const of = (...kinds: ReadonlyArray<string>) => exported.filter((one) => kinds.includes(kindOf(one)))
  const services = of("service", "port").map(({ own }) => interfaceOf(text, own))
  const kind = of("service").length > 0 ? " (service)" : of("port").length > 0 ? " (port)" : ""
  return [
    `### ${module.slice(module.lastIndexOf("/") + 1)}${kind}`,
    purposeOf(text),
    ...(services.length === 0 ? [] : [`\`\`\`ts\n${services.join("\n\n")}\n\`\`\``]),
    ...sentence("Errors", of("error")),
    ...sentence("Settings", of("setting")),
    ...sentence("Types and values", of("type", "value"))
  ].join("\n\n")
}

const interfaceOf = (source: string, name: string): string => {
  const shape = new RegExp(
    `^export class ${name} extends Context\\.Service<\\s*${name},\\s*(.+?)\\s*>\\(\\)\\(`,
    "msu"
  ).exec(source)
  const text = dedented(shape?.[1] ?? "")
  return text.startsWith("{") ? `interface ${name} ${text}` : `type ${name} = ${text}`
}

const sentence = (label: string, exported: ReadonlyArray<Exported>): ReadonlyArray<string> =>
  exported.length === 0 ? [] : [`${label}: ${exported.map(({ name }) => `\`${name}\``).join(", ")}.`]

/** Indented as its last line, the closing brace. */
const dedented = (shape: string): string => {
  const indent = /^ */u.exec(shape.split("\n").at(-1)!)![0]
  return shape.replaceAll(new RegExp(`^${indent}`, "gmu"), "")
}
