/**
 * The text of docs/api.md, extracted from the sources: the entries of the package with what each exports, and every module
 * that it opens with its purpose, its services and ports verbatim, its errors, settings and other documented exports.
 */
import {
  commentOf,
  entries,
  type Entry,
  type Exported,
  interfaceIn,
  kindOf,
  modules,
  purposeOf,
  readModule
} from "./Entries.ts"

export const apiDocument = (): string =>
  [INTRODUCTION, ...entries().map(entryText), MODULES, ...modules().map(moduleText)].join("\n\n").concat("\n")

const INTRODUCTION = `# API

Generated from the sources by \`npm run api-docs\`; [embedding.md](embedding.md) and [clients.md](clients.md) show how to use it. A
*service* has policy; a *port* is implemented by adapters, or by you; a *setting* is a reference with a default. The HTTP API
documents itself: \`/docs\`, \`/api/openapi.json\`.`

const MODULES = `## Modules

Each is imported by its path, such as \`agent-tool-billing/domain/payments/Loads\`. Exports without a comment are internal, and not
listed.`

const entryText = ({ exports, module, name }: Entry): string =>
  [`## ${name}`, purposeOf(readModule(module)), listed(exports)].join("\n\n")

const listed = (exports: ReadonlyArray<Exported>): string =>
  exports.map((one) => `- \`${one.name}\`: ${commentOf(one)}`).join("\n")

const moduleText = ({ exports, module }: Entry): string => {
  const text = readModule(module)
  const of = (...kinds: ReadonlyArray<string>) =>
    exports.filter((one) => kinds.includes(kindOf(one)) && commentOf(one) !== "")
  const services = of("service", "port").map(({ own }) => interfaceOf(text, own))
  const kind = of("service").length > 0 ? " (service)" : of("port").length > 0 ? " (port)" : ""
  const settings = of("setting")
  return [
    `### ${module}${kind}`,
    purposeOf(text),
    ...(services.length === 0 ? [] : [`\`\`\`ts\n${services.join("\n\n")}\n\`\`\``]),
    ...(settings.length === 0 ? [] : [`Settings:\n\n${listed(settings)}`]),
    ...sentence("Errors", of("error")),
    ...sentence("Types and values", of("type", "value"))
  ].join("\n\n")
}

const interfaceOf = (source: string, name: string): string => {
  const text = dedented(interfaceIn(source, name))
  return text.startsWith("{") ? `interface ${name} ${text}` : `type ${name} = ${text}`
}

const sentence = (label: string, exported: ReadonlyArray<Exported>): ReadonlyArray<string> =>
  exported.length === 0 ? [] : [`${label}: ${exported.map(({ name }) => `\`${name}\``).join(", ")}.`]

/** Indented as its last line, the closing brace. */
const dedented = (shape: string): string => {
  const indent = /^ */u.exec(shape.split("\n").at(-1)!)![0]
  return shape.replaceAll(new RegExp(`^${indent}`, "gmu"), "")
}
