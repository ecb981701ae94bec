/**
 * The container file, parsed: its stages with their instructions.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "./PlantedProject.ts"

export interface Instruction {
  /** `RUN` */
  readonly word: string
  /** `--from=build` as `from: "build"`. */
  readonly options: Readonly<Record<string, string>>
  readonly text: string
}

export interface Stage {
  readonly image: string
  readonly name: string | undefined
  readonly instructions: ReadonlyArray<Instruction>
}

export const CONTAINER_FILE = join(projectRoot, "docs/operations/Containerfile")

export const parseContainerFile = (text: string): ReadonlyArray<Stage> => {
  const lines = text
    .split("\n")
    .filter((line) => !/^\s*(?:#|$)/u.test(line))
    .join("\n")
    .replaceAll(/\s*\\\n\s*/gu, " ")
    .split("\n")
  const variables = new Map<string, string>()
  const stages: Array<{ image: string; name: string | undefined; instructions: Array<Instruction> }> = []
  for (const line of lines) {
    const { rest = "", word = "" } = /^(?<word>[A-Z]+)\s+(?<rest>.*)$/u.exec(line)?.groups ?? {}
    const options = [...rest.matchAll(/(?<=^|\s)--(?<name>[a-z-]+)=(?<value>\S+)/gu)].map(
      ({ groups }) => [groups!["name"]!, groups!["value"]!] as const
    )
    const flags = /^(?:--[a-z-]+=\S+\s+)*/u.exec(rest)![0]
    const instruction = {
      word,
      options: Object.fromEntries(options.filter(([name, value]) => flags.includes(`--${name}=${value}`))),
      text: rest.slice(flags.length)
    }
    if (word === "FROM") {
      const [image = "", , name] = instruction.text.split(/\s+/u)
      const replaced = image.replaceAll(/\$\{(?<name>\w+)\}/gu, (_, variable: string) => variables.get(variable) ?? "")
      stages.push({ image: replaced, name, instructions: [] })
    } else if (stages.length === 0) {
      const [name = "", value = ""] = instruction.text.split(/=(.*)/su)
      variables.set(name, value)
    } else {
      stages.at(-1)!.instructions.push(instruction)
    }
  }
  return stages
}

export const containerFile = (): ReadonlyArray<Stage> => parseContainerFile(readFileSync(CONTAINER_FILE, "utf8"))

/** The texts of all instructions of this kind, in order. */
export const textsOf = ({ instructions }: Stage, word: string): ReadonlyArray<string> =>
  instructions.filter((one) => one.word === word).map(({ text }) => text)

/** The arguments of an instruction in exec form. */
export const argumentsOf = (stage: Stage, word: string): ReadonlyArray<string> => {
  const text = textsOf(stage, word).at(-1) ?? ""
  return JSON.parse(text.slice(text.indexOf("["))) as ReadonlyArray<string>
}

/** Of all ENV instructions. */
export const environmentOf = (stage: Stage): Readonly<Record<string, string>> =>
  Object.fromEntries(
    textsOf(stage, "ENV").flatMap((text) => text.split(/\s+/u).map((pair) => pair.split(/=(.*)/su).slice(0, 2)))
  ) as Readonly<Record<string, string>>
