/**
 * The form by which a provider declares a tool, new or as it is now: every field of the declaration, with prices in
 * dollars and schemas as JSON. What is left empty is left to the provider's or the platform's default.
 */
import type { Declaration, ToolsPut } from "../kit/Answers.browser.ts"
import { ask, Refused } from "../kit/Api.browser.ts"
import { dollarsOf, microcentsOf } from "../kit/Figures.browser.ts"
import { type Field, form, type Values } from "../kit/Form.browser.ts"
import { keyOf } from "../kit/Session.browser.ts"

type Fault = Refused["faults"][number]

const POLICIES = [
  ["success", "when it succeeds"],
  ["valid_output", "when its answer fits the output schema"],
  ["attempt", "for every attempt"]
] as const

const CANCELED = [
  ["finish", "runs to its end and is billed by its outcome"],
  ["price", "is canceled and costs its price"],
  ["nothing", "is canceled and costs nothing"]
] as const

const fieldsOf = (tool: Declaration | undefined): ReadonlyArray<Field> => [
  ...(tool === undefined
    ? [{ name: "tool_name", label: "Name", placeholder: "search", hint: "As your MCP server lists it." }]
    : []),
  { name: "display_name", label: "Name for people", optional: true, value: tool?.display_name ?? "" },
  {
    name: "category",
    label: "Category",
    optional: true,
    placeholder: "search",
    value: tool?.category ?? "",
    hint: "One or two words in lower case, by which people filter."
  },
  { name: "description", label: "What it does", type: "textarea", optional: true, value: tool?.description ?? "" },
  {
    name: "price_microcents",
    label: "Price of a call, in dollars",
    type: "number",
    optional: true,
    placeholder: "your default price",
    value: dollarsOf(tool?.price_microcents ?? undefined),
    hint: "Down to $0.000001. A lower price applies at once, a higher one after the notice period; receipts keep theirs."
  },
  {
    name: "free_tier_calls",
    label: "Free calls a month",
    type: "number",
    optional: true,
    placeholder: "the platform's default",
    value: textOf(tool?.free_tier_calls ?? undefined),
    hint: "For each developer. 0 for none."
  },
  {
    name: "billing_policy",
    label: "A call is paid for",
    type: "select",
    choices: POLICIES,
    value: tool?.billing_policy ?? "success"
  },
  {
    name: "on_cancel",
    label: "A forwarded call whose caller cancels or disconnects",
    type: "select",
    choices: CANCELED,
    value: tool?.on_cancel === "pass" ? (tool.canceled_call_costs ?? "price") : "finish",
    hint: "What charges more takes effect after the notice period."
  },
  {
    name: "max_cost_microcents",
    label: "The most that one call may cost, in dollars",
    type: "number",
    optional: true,
    value: dollarsOf(tool?.max_cost_microcents ?? undefined),
    hint: "Only if you report what each call cost."
  },
  {
    name: "timeout_ms",
    label: "Time for an answer, in milliseconds",
    type: "number",
    optional: true,
    placeholder: "the platform's default",
    value: textOf(tool?.timeout_ms ?? undefined)
  },
  {
    name: "idempotent",
    label: "Calling it twice",
    type: "select",
    choices: [
      ["false", "may do harm"],
      ["true", "does no harm"]
    ],
    hint: "Then a broken answer may be asked for again.",
    value: String(tool?.idempotent ?? false)
  },
  {
    name: "input_schema",
    label: "Input schema",
    type: "json",
    optional: true,
    value: jsonOf(tool?.input_schema),
    hint: "JSON Schema. Input that does not fit is refused before it costs anything."
  },
  {
    name: "output_schema",
    label: "Output schema",
    type: "json",
    optional: true,
    value: jsonOf(tool?.output_schema),
    hint: "JSON Schema of what the tool answers."
  }
]

/** `tool` undefined: a new one. */
export const toolForm = (
  id: string,
  tool: Declaration | undefined,
  saved: (declared: Declaration) => Promise<void>
): HTMLFormElement =>
  form({
    id,
    fields: fieldsOf(tool),
    submit: tool === undefined ? "List it" : "Save it",
    send: async (values, idempotencyKey) => {
      const declared = declarationOf(values, tool)
      try {
        await ask<ToolsPut>("POST", "/api/market/tools", {
          key: keyOf("provider"),
          idempotencyKey,
          body: { tools: [declared] }
        })
      } catch (error) {
        throw error instanceof Refused ? placed(error, declared.tool_name) : error
      }
      await saved(declared)
      return undefined
    }
  })

const declarationOf = (values: Values, tool: Declaration | undefined): Declaration => {
  const faults: Array<Fault> = []
  const before = new Map(tool === undefined ? [] : fieldsOf(tool).map(({ name, value }) => [name, value]))
  const isChanged = (name: string): boolean => values[name] !== before.get(name)
  // Only what was changed is sent: a field that is left out stays as it is. One that was emptied is reset.
  const read = <A>(name: string, parse: (text: string) => A | undefined, message: string): Record<string, A | null> => {
    const text = values[name]!
    if (!isChanged(name)) return {}
    if (text === "") return tool === undefined ? {} : { [name]: null }
    const value = parse(text)
    if (value === undefined) faults.push({ path: [name], message })
    return value === undefined ? {} : { [name]: value }
  }
  const dollars = "Write dollars, such as 0.002; at most six digits behind the point."
  const declared = {
    ...read("display_name", String, ""),
    ...read("description", String, ""),
    ...read("category", String, ""),
    ...read("price_microcents", microcentsOf, dollars),
    ...read("free_tier_calls", wholeOf, "Write a whole number."),
    ...read("max_cost_microcents", microcentsOf, dollars),
    ...read("timeout_ms", wholeOf, "Write a whole number."),
    ...read("input_schema", objectOf, "This is no JSON object."),
    ...read("output_schema", objectOf, "This is no JSON object."),
    tool_name: tool?.tool_name ?? values["tool_name"]!,
    ...(isChanged("billing_policy") ? { billing_policy: values["billing_policy"] } : {}),
    ...(isChanged("on_cancel") ? cancellationOf(values["on_cancel"]!) : {}),
    ...(isChanged("idempotent") ? { idempotent: values["idempotent"] === "true" } : {})
  }
  if (faults.length > 0) throw new Refused(422, { details: faults })
  return declared as Declaration
}

/** What a canceled call costs is not sent where calls run to their end: it stays as it is. */
const cancellationOf = (canceled: string): object =>
  canceled === "finish" ? { on_cancel: canceled } : { on_cancel: "pass", canceled_call_costs: canceled }

/** Faults are at `tools.0.<field>`; what only the catalog can judge is at `tools.0`, and its message begins with the field. */
const placed = (refused: Refused, toolName: string): Refused => {
  const faults = refused.faults.map(({ message, path: [, , field] }): Fault => {
    if (typeof field === "string") return { path: [field], message }
    const said = message.replace(`${toolName}: `, "")
    const [, name = "", words = said] = /^(\w+)(?:\.[\w.]+)?:? (.*)$/su.exec(said) ?? []
    return { path: [name], message: words }
  })
  return new Refused(refused.status, { detail: refused.message, code: refused.code, details: faults })
}

const wholeOf = (text: string): number | undefined => (/^\d{1,15}$/u.test(text) ? Number(text) : undefined)

const objectOf = (text: string): object | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

const textOf = (value: number | undefined): string => (value === undefined ? "" : String(value))
const jsonOf = (value: unknown): string => (value === undefined ? "" : JSON.stringify(value, null, 2))
