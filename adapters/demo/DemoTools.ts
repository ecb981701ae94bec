/**
 * The tools of the demo provider: one of each kind that the market bills. Their definitions are what `tools/list` returns.
 */
import { REPORTED_COST_FIELD } from "../../domain/metering/CallTerms.ts"

// The data of the demo provider's lookup: the chemical elements up to krypton, with the abridged standard atomic weights of
// IUPAC.

interface ChemicalElement {
  readonly atomic_number: number
  readonly symbol: string
  readonly name: string
  readonly atomic_weight: number
}

const ROWS = `H Hydrogen 1.008;He Helium 4.0026;Li Lithium 6.94;Be Beryllium 9.0122;B Boron 10.81;C Carbon 12.011;
  N Nitrogen 14.007;O Oxygen 15.999;F Fluorine 18.998;Ne Neon 20.18;Na Sodium 22.99;Mg Magnesium 24.305;Al Aluminum 26.982;
  Si Silicon 28.085;P Phosphorus 30.974;S Sulfur 32.06;Cl Chlorine 35.45;Ar Argon 39.95;K Potassium 39.098;
  Ca Calcium 40.078;Sc Scandium 44.956;Ti Titanium 47.867;V Vanadium 50.942;Cr Chromium 51.996;Mn Manganese 54.938;
  Fe Iron 55.845;Co Cobalt 58.933;Ni Nickel 58.693;Cu Copper 63.546;Zn Zinc 65.38;Ga Gallium 69.723;Ge Germanium 72.63;
  As Arsenic 74.922;Se Selenium 78.971;Br Bromine 79.904;Kr Krypton 83.798`

const chemicalElements: ReadonlyArray<ChemicalElement> = ROWS.split(";").map((row, index) => {
  const [symbol = "", name = "", weight = ""] = row.trim().split(" ")
  return { atomic_number: index + 1, symbol, name, atomic_weight: Number(weight) }
})

const elementNamed = (text: string): ChemicalElement | undefined => {
  const wanted = text.trim().toLowerCase()
  return chemicalElements.find(
    ({ atomic_number, name, symbol }) =>
      symbol.toLowerCase() === wanted || name.toLowerCase() === wanted || String(atomic_number) === wanted
  )
}

type JsonObject = Readonly<Record<string, unknown>>

interface ToolDefinition {
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

/** The content has it as text too, for clients that do not read structured content. */
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
