/**
 * The form that lists or edits a tool.
 */
import { ActionButton } from "../../console/ActionButton.browser.ts"
import { type ConsoleApi, useConsole } from "../../console/ConsoleContext.browser.ts"
import { type Field, InputForm, type Values } from "../../console/InputForm.browser.ts"
import type { Confirmation } from "../../console/Modal.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import { ApiError, invalid, request } from "../../kit/ApiRequest.browser.ts"
import type { Declaration, OwnTools, ToolDetails, ToolsResponse } from "../../kit/ApiResponses.browser.ts"
import { dollarsInput, INVALID_PRICE, parseDollars } from "../../kit/Format.browser.ts"

// The fields of a tool, and what is sent for them. Prices are entered in dollars, schemas as JSON; empty fields use the
// defaults.

const BILLING_POLICIES = [
  ["success", "Successful calls"],
  ["valid_output", "Successful calls whose result matches the output schema"],
  ["attempt", "Every attempt"]
] as const

const CANCELLATIONS = [
  ["finish", "Completes and is billed by its outcome"],
  ["price", "Is canceled and costs its price"],
  ["nothing", "Is canceled at no charge"]
] as const

/** `tool`: undefined to list a new one. */
const fieldsOf = (tool: Declaration | undefined): ReadonlyArray<Field> => [
  ...(tool === undefined
    ? [{ name: "tool_name", label: "Name", placeholder: "search", hint: "As your MCP server lists it." }]
    : []),
  { name: "display_name", label: "Display name", optional: true, value: tool?.display_name ?? "" },
  {
    name: "category",
    label: "Category",
    optional: true,
    placeholder: "search",
    value: tool?.category ?? "",
    hint: "Lowercase letters, digits and dashes."
  },
  { name: "description", label: "Description", type: "textarea", optional: true, value: tool?.description ?? "" },
  {
    name: "price_microcents",
    label: "Price per call in dollars",
    type: "number",
    optional: true,
    placeholder: "Your default price",
    value: dollarsInput(tool?.price_microcents ?? undefined),
    hint: "From $0.000001. Decreases take effect immediately, increases after the notice period."
  },
  {
    name: "free_tier_calls",
    label: "Free calls per month",
    type: "number",
    optional: true,
    placeholder: "Platform default",
    value: textOf(tool?.free_tier_calls ?? undefined),
    hint: "For each developer."
  },
  {
    name: "billing_policy",
    label: "Charge for",
    type: "select",
    choices: BILLING_POLICIES,
    value: tool?.billing_policy ?? "success"
  },
  {
    name: "on_cancel",
    label: "A call whose caller cancels or disconnects",
    type: "select",
    choices: CANCELLATIONS,
    value: tool?.on_cancel === "pass" ? (tool.canceled_call_costs ?? "price") : "finish",
    hint: "A change that charges more takes effect after the notice period."
  },
  {
    name: "max_cost_microcents",
    label: "Maximum cost per call in dollars",
    type: "number",
    optional: true,
    value: dollarsInput(tool?.max_cost_microcents ?? undefined),
    hint: "Only for usage-priced tools, whose calls report their cost."
  },
  {
    name: "timeout_ms",
    label: "Timeout in milliseconds",
    type: "number",
    optional: true,
    placeholder: "Platform default",
    value: textOf(tool?.timeout_ms ?? undefined)
  },
  {
    name: "idempotent",
    label: "Idempotent",
    type: "select",
    choices: [
      ["false", "No"],
      ["true", "Yes"]
    ],
    hint: "Calls of idempotent tools are retried after a timeout or a lost connection.",
    value: String(tool?.idempotent ?? false)
  },
  {
    name: "input_schema",
    label: "Input schema",
    type: "json",
    optional: true,
    value: jsonOf(tool?.input_schema),
    hint: "JSON Schema. Input that does not match is rejected at no charge."
  },
  {
    name: "output_schema",
    label: "Output schema",
    type: "json",
    optional: true,
    value: jsonOf(tool?.output_schema),
    hint: "JSON Schema of the result."
  }
]

/** Only changed fields are sent: the API keeps the others. An emptied field is reset to its default. */
const declarationOf = (values: Values, tool: Declaration | undefined): Declaration => {
  const errors: Record<string, string> = {}
  const before = new Map(tool === undefined ? [] : fieldsOf(tool).map(({ name, value }) => [name, value]))
  const isChanged = (name: string): boolean => values[name] !== before.get(name)
  const read = <A>(name: string, parse: (text: string) => A | undefined, message: string): Record<string, A | null> => {
    const text = values[name]!
    if (!isChanged(name)) return {}
    if (text === "") return tool === undefined ? {} : { [name]: null }
    const value = parse(text)
    if (value === undefined) errors[name] = message
    return value === undefined ? {} : { [name]: value }
  }
  const declared = {
    ...read("display_name", String, ""),
    ...read("description", String, ""),
    ...read("category", String, ""),
    ...read("price_microcents", parseDollars, INVALID_PRICE),
    ...read("free_tier_calls", integerOf, "Enter a whole number."),
    ...read("max_cost_microcents", parseDollars, INVALID_PRICE),
    ...read("timeout_ms", integerOf, "Enter a whole number."),
    ...read("input_schema", objectOf, "Enter a JSON object."),
    ...read("output_schema", objectOf, "Enter a JSON object."),
    tool_name: tool?.tool_name ?? values["tool_name"]!,
    ...(isChanged("billing_policy") ? { billing_policy: values["billing_policy"] } : {}),
    ...(isChanged("on_cancel") ? cancellationOf(values["on_cancel"]!) : {}),
    ...(isChanged("idempotent") ? { idempotent: values["idempotent"] === "true" } : {})
  }
  if (Object.keys(errors).length > 0) throw invalid(errors)
  return declared as Declaration
}

/** `canceled_call_costs` does not apply to calls that complete, so it is left as it is. */
const cancellationOf = (choice: string): object =>
  choice === "finish" ? { on_cancel: choice } : { on_cancel: "pass", canceled_call_costs: choice }

/** Errors are at `tools.0.<field>`, or at `tools.0` with a message that begins with the field's name. */
const withFieldNames = (error: ApiError, toolName: string): ApiError => {
  const details = error.fieldErrors.map(({ message, path: [, , field] }) => {
    if (typeof field === "string") return { path: [field], message }
    const text = message.replace(`${toolName}: `, "")
    const [, name = "", rest = text] = /^(\w+)(?:\.[\w.]+)?:? (.*)$/su.exec(text) ?? []
    return { path: [name], message: rest }
  })
  return new ApiError(error.status, { detail: error.message, code: error.code, details })
}

const integerOf = (text: string): number | undefined => (/^\d{1,15}$/u.test(text) ? Number(text) : undefined)

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

interface ToolFormProps {
  readonly id: string
  /** The tool to change; undefined to list a new one. */
  readonly tool: Declaration | undefined
  readonly saved: (declared: Declaration) => Promise<void>
}

export const ToolForm = ({ id, saved, tool }: ToolFormProps): View => {
  const { api } = useConsole()
  return h(
    "div",
    { class: "fields" },
    h(InputForm, {
      id,
      fields: fieldsOf(tool),
      submit: tool === undefined ? "List tool" : "Save tool",
      keepsValues: true,
      send: async (values, idempotencyKey) => {
        const declared = declarationOf(values, tool)
        try {
          await putTool(api, declared, idempotencyKey)
        } catch (error) {
          throw error instanceof ApiError ? withFieldNames(error, declared.tool_name) : error
        }
        await saved(declared)
      }
    })
  )
}

// Actions on a tool: withdraw it, list it again, list or dismiss a draft.

// Requests about one tool of the provider.

export type OwnTool = OwnTools["tools"][number]

export const TOOLS_PATH = "/api/v1/market/tools"

const putTool = (api: ConsoleApi, declaration: Declaration, idempotencyKey: string): Promise<ToolsResponse> =>
  api.post<ToolsResponse>("/api/market/tools", { tools: [declaration] }, idempotencyKey)

/** Withdraws a listed tool, or dismisses a draft. */
const removeTool = (api: ConsoleApi, id: string, idempotencyKey: string): Promise<unknown> =>
  api.delete(`${TOOLS_PATH}/${id}`, idempotencyKey)

export const readTool = (id: string): Promise<ToolDetails> =>
  request<ToolDetails>("GET", `${TOOLS_PATH}/${encodeURIComponent(id)}`, { isFresh: true })

export const nameOf = ({
  display_name: display,
  tool_name: name
}: Pick<OwnTool, "display_name" | "tool_name">): string => (display === "" ? name : display)

interface ToolActionsProps {
  readonly tool: Pick<OwnTool, "id" | "tool_name" | "state" | "pricing">
  readonly changed: () => Promise<void>
}

export const ToolActions = ({ changed, tool }: ToolActionsProps): View => {
  const { api } = useConsole()
  return h(
    "div",
    { class: "actions tight" },
    ACTIONS[tool.state].map((action) => {
      const { confirm, label, name, run, style = "tiny plain" } = action(tool)
      return h(ActionButton, {
        key: label,
        label,
        name,
        style,
        ...(confirm === undefined ? {} : { confirm }),
        run: async (idempotencyKey) => {
          const message = await run(api, idempotencyKey)
          await changed()
          return message
        }
      })
    })
  )
}

type Tool = ToolActionsProps["tool"]

interface Action {
  readonly label: string
  readonly name: string
  readonly style?: string
  readonly confirm?: Confirmation
  readonly run: (api: ConsoleApi, idempotencyKey: string) => Promise<string>
}

const withdraw = ({ id, tool_name: name }: Tool): Action => ({
  label: "Withdraw",
  name: `Withdraw ${name}`,
  confirm: {
    title: `Withdraw ${name}?`,
    text: [
      h("p", null, "The tool leaves the catalog and new calls are rejected. Calls in progress complete."),
      h("p", null, "Receipts, usage and disputes are kept. You can list the tool again.")
    ],
    action: "Withdraw tool",
    isDangerous: true
  },
  run: async (api, idempotencyKey) => {
    await removeTool(api, id, idempotencyKey)
    return `${name} is withdrawn.`
  }
})

const relist = ({ id, tool_name: name }: Tool): Action => ({
  label: "List again",
  name: `List ${name} again`,
  run: async (api, idempotencyKey) => {
    await putTool(api, (await readTool(id)).declaration, idempotencyKey)
    return `${name} is listed again.`
  }
})

const list = ({ pricing, tool_name: name }: Tool): Action => ({
  label: "List",
  name: `List ${name}`,
  confirm: {
    title: `List ${name}?`,
    text: h("p", null, `The tool enters the catalog at ${pricing.price} per call. You can change the price later.`),
    action: "List tool"
  },
  run: async (api, idempotencyKey) => {
    await putTool(api, { tool_name: name }, idempotencyKey)
    return `${name} is listed.`
  }
})

const dismiss = ({ id, tool_name: name }: Tool): Action => ({
  label: "Dismiss",
  name: `Dismiss ${name}`,
  run: async (api, idempotencyKey) => {
    await removeTool(api, id, idempotencyKey)
    return `The draft ${name} is dismissed. It comes back when your MCP server changes the tool.`
  }
})

const ACTIONS: Readonly<Record<OwnTool["state"], ReadonlyArray<(tool: Tool) => Action>>> = {
  draft: [list, dismiss],
  listed: [withdraw],
  withdrawn: [relist]
}
