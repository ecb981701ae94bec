/**
 * The tools of the demo provider: one of each kind that the market bills. Their definitions are what `tools/list` returns.
 */
import { REPORTED_COST_FIELD } from "../../domain/metering/CallTerms.ts"
import { chemicalElements, elementNamed } from "./ChemicalElements.ts"

type JsonObject = Readonly<Record<string, unknown>>

export interface ToolDefinition {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly outputSchema?: JsonObject
  readonly annotations: JsonObject
}

/** A tool that reports `steps` times, every `intervalMs`, before its result. */
export interface SlowResult {
  readonly steps: number
  readonly intervalMs: number
  readonly result: JsonObject
}

export interface DemoTool {
  readonly definition: ToolDefinition
  /** In microcents. */
  readonly price: bigint
  /** The most that a call of a usage-priced tool costs, in microcents. */
  readonly maxCost?: bigint
  readonly call: (args: JsonObject) => { readonly result: JsonObject } | SlowResult
}

const MICROCENTS_PER_WORD = 10
const WORDS_BILLED_MAX = 1_000
const STEPS_MAX = 8
const STEP_MS = 500

const READ_ONLY = { readOnlyHint: true, idempotentHint: true, destructiveHint: false, openWorldHint: false }

const text = (value: string): JsonObject => ({ content: [{ type: "text", text: value }] })
const failed = (message: string) => ({ result: { ...text(message), isError: true } })

/** As text too, for clients that do not read structured content. */
const structured = (value: JsonObject): JsonObject => ({ ...text(JSON.stringify(value)), structuredContent: value })

const echo: DemoTool = {
  definition: {
    name: "echo",
    title: "Echo",
    description: "Returns the message that you send.",
    inputSchema: {
      type: "object",
      properties: { message: { type: "string", description: "The text to return.", examples: ["hello"] } },
      required: ["message"]
    },
    annotations: READ_ONLY
  },
  price: 500n,
  call: ({ message }) =>
    typeof message === "string" ? { result: text(message) } : failed("`message` is required and must be a string.")
}

const lookup: DemoTool = {
  definition: {
    name: "lookup_element",
    title: "Look up a chemical element",
    description: `Returns symbol, name, atomic number and standard atomic weight of a chemical element, 1 to ${chemicalElements.length}.`,
    inputSchema: {
      type: "object",
      properties: {
        element: { type: "string", description: "Symbol, English name or atomic number.", examples: ["iron"] }
      },
      required: ["element"]
    },
    outputSchema: {
      type: "object",
      properties: {
        atomic_number: { type: "integer" },
        symbol: { type: "string" },
        name: { type: "string" },
        atomic_weight: { type: "number" }
      },
      required: ["atomic_number", "symbol", "name", "atomic_weight"]
    },
    annotations: READ_ONLY
  },
  price: 1_000n,
  call: ({ element }) => {
    const found = typeof element === "string" || typeof element === "number" ? elementNamed(String(element)) : undefined
    return found === undefined
      ? failed(
          `Unknown element. Send a symbol, a name or a number from 1 to ${chemicalElements.length} as \`element\`.`
        )
      : { result: structured({ ...found }) }
  }
}

const countdown: DemoTool = {
  definition: {
    name: "countdown",
    title: "Countdown",
    description: `Counts down, one step every ${STEP_MS} ms, and reports its progress.`,
    inputSchema: {
      type: "object",
      properties: { from: { type: "integer", minimum: 1, maximum: STEPS_MAX, default: 4 } }
    },
    annotations: READ_ONLY
  },
  price: 2_000n,
  call: ({ from = 4 }) =>
    typeof from === "number" && Number.isInteger(from) && from >= 1 && from <= STEPS_MAX
      ? { steps: from, intervalMs: STEP_MS, result: text(`Counted down from ${from}.`) }
      : failed(`\`from\` must be an integer from 1 to ${STEPS_MAX}.`)
}

const countWords: DemoTool = {
  definition: {
    name: "count_words",
    title: "Count words",
    description:
      `Counts the words of a text. Usage-priced: ${MICROCENTS_PER_WORD} microcents per word, for at most ` +
      `${WORDS_BILLED_MAX} words.`,
    inputSchema: {
      type: "object",
      properties: { text: { type: "string", examples: ["The quick brown fox"] } },
      required: ["text"]
    },
    outputSchema: { type: "object", properties: { words: { type: "integer" } }, required: ["words"] },
    annotations: READ_ONLY
  },
  price: BigInt(MICROCENTS_PER_WORD),
  maxCost: BigInt(MICROCENTS_PER_WORD * WORDS_BILLED_MAX),
  call: ({ text: given }) => {
    if (typeof given !== "string") return failed("`text` is required and must be a string.")
    const words = given.split(/\s+/u).filter((word) => word !== "").length
    const cost = MICROCENTS_PER_WORD * Math.min(words, WORDS_BILLED_MAX)
    return { result: { ...structured({ words }), _meta: { [REPORTED_COST_FIELD]: cost } } }
  }
}

export const demoTools: ReadonlyArray<DemoTool> = [countWords, countdown, lookup, echo]
