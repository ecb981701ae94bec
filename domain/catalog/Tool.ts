/**
 * A tool of a provider.
 */
import { type DateTime, Schema } from "effect"
import type { ProviderId, ToolId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"

/** Such a name would name another tool or provider in the path of a URL. This check has its own message. */
const changesPaths = (name: string): boolean => /^\/|\.\/|(?:^|\/)\.{1,2}$/u.test(name)

/** MCP names tools like this. Headers and receipts contain names too, so they are plain ASCII. */
export const ToolName = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_./-]{1,128}$/u, {
    message: "must be 1 to 128 letters, digits, `_`, `-`, `.` or `/`"
  }),
  Schema.makeFilter((name: string) =>
    changesPaths(name) ? "must not begin with `/`, contain `./` or `../`, or end as such a path" : undefined
  )
)

export const TOOL_NAME_SENT = /^[A-Za-z0-9_./-]{1,161}$/u
/** Name of a tool in a call: bare, or qualified as `handle/tool_name`. */
export const ToolNameSent = Schema.String.check(
  Schema.isPattern(TOOL_NAME_SENT, {
    message: "must be a tool name: letters, digits, `_`, `-`, `.` or `/`, such as `acme/echo`"
  })
)

export const Category = Schema.String.check(
  Schema.isPattern(/^[a-z0-9][a-z0-9 _-]{0,49}$/u, {
    message: "must be 1 to 50 lowercase letters, digits, spaces, `_` or `-`"
  })
)

/** Says when a call costs money: on success, only when the output matches the tool's schema, or for every attempt. */
export const BillingPolicy = Schema.Literals(["success", "valid_output", "attempt"])
export type BillingPolicy = typeof BillingPolicy.Type

/**
 * Says what happens to a forwarded call whose caller disconnects: it is finished, or the cancellation is passed to the
 * provider.
 */
export type OnCancel = "finish" | "pass"

/** The cost of a call whose cancellation was passed to the provider: its list price, at most the hold, or nothing. */
export type CanceledCallCosts = "price" | "nothing"

/** A JSON Schema as its author wrote it. `JsonSchemas.check` says whether it is valid. */
export type JsonSchemaObject = Readonly<Record<string, unknown>>

/** Hints of the provider's MCP server about a tool, under their names in MCP. No rule of this service depends on them. */
export interface ToolAnnotations {
  readonly readOnlyHint?: boolean | undefined
  readonly destructiveHint?: boolean | undefined
  readonly idempotentHint?: boolean | undefined
  readonly openWorldHint?: boolean | undefined
}

/** A provider's declaration of a tool. Undefined: the provider's or the platform's default. */
export interface ToolDeclaration {
  readonly toolName: string
  readonly displayName: string
  readonly description: string
  readonly category: string
  readonly price: Microcents | undefined
  readonly freeTierCalls: number | undefined
  readonly inputSchema: JsonSchemaObject | undefined
  readonly outputSchema: JsonSchemaObject | undefined
  readonly annotations: ToolAnnotations | undefined
  readonly billingPolicy: BillingPolicy
  /** The most that one call may cost, for a provider that reports actual costs. */
  readonly maxCost: Microcents | undefined
  readonly timeoutMs: number | undefined
  /** Repeating a call does no harm: a broken stream may be retried. */
  readonly idempotent: boolean
  readonly onCancel: OnCancel
  readonly canceledCallCosts: CanceledCallCosts
}

/** A provider's change of a tool. An absent field stays; `null` resets it to its default. */
export type ToolChange = Pick<ToolDeclaration, "toolName"> & {
  readonly [Field in Exclude<keyof ToolDeclaration, "toolName">]?: ToolDeclaration[Field] | null | undefined
}

export const defaultsOf = (toolName: string): ToolDeclaration => ({
  toolName,
  displayName: toolName,
  description: "",
  category: "other",
  price: undefined,
  freeTierCalls: undefined,
  inputSchema: undefined,
  outputSchema: undefined,
  annotations: undefined,
  billingPolicy: "success",
  maxCost: undefined,
  timeoutMs: undefined,
  idempotent: false,
  onCancel: "finish",
  canceledCallCosts: "price"
})

/** The declaration after the change; `known` is the previous one, undefined for a new tool. */
export const applyChange = (known: ToolDeclaration | undefined, change: ToolChange): ToolDeclaration => {
  const defaults = defaultsOf(change.toolName)
  const field = <F extends Exclude<keyof ToolDeclaration, "toolName">>(name: F): ToolDeclaration[F] => {
    const sent = change[name] as ToolDeclaration[F] | null | undefined
    if (sent === undefined) return (known ?? defaults)[name]
    return sent ?? defaults[name]
  }
  return {
    toolName: change.toolName,
    displayName: field("displayName"),
    description: field("description"),
    category: field("category"),
    price: field("price"),
    freeTierCalls: field("freeTierCalls"),
    inputSchema: field("inputSchema"),
    outputSchema: field("outputSchema"),
    annotations: field("annotations"),
    billingPolicy: field("billingPolicy"),
    maxCost: field("maxCost"),
    timeoutMs: field("timeoutMs"),
    idempotent: field("idempotent"),
    onCancel: field("onCancel"),
    canceledCallCosts: field("canceledCallCosts")
  }
}

/** The fields of a declaration that decide what a call costs. */
type DeclaredTerms =
  | "price"
  | "maxCost"
  | "freeTierCalls"
  | "billingPolicy"
  | "outputSchema"
  | "onCancel"
  | "canceledCallCosts"

/** The stored tool; a catalog entry adds what is in effect. */
export interface StoredTool extends Omit<ToolDeclaration, DeclaredTerms> {
  readonly id: ToolId
  readonly providerId: ProviderId
  readonly createdAt: DateTime.Utc
  readonly updatedAt: DateTime.Utc
  /** The terms that the provider sent last. Calls are charged by those in effect, which are in the catalog entry. */
  readonly declared: Pick<ToolDeclaration, DeclaredTerms>
  /** The time when it was withdrawn; undefined while it is listed. A draft has the time when it was stored. */
  readonly withdrawnAt: DateTime.Utc | undefined
  /** A draft was never listed: only its provider sees it, and its price history has not begun. */
  readonly draft: boolean
  /** The sync withdrew it, because its provider's server no longer lists it. */
  readonly withdrawnByServer: boolean
}

export interface Tool extends StoredTool {
  /** Outputs are judged by it. Where it decides what is billed, it is that of the terms in effect. */
  readonly outputSchema: JsonSchemaObject | undefined
}

/** The complete declaration of an existing tool. */
export const declarationOf = ({ declared, ...tool }: StoredTool): ToolDeclaration => ({
  toolName: tool.toolName,
  displayName: tool.displayName,
  description: tool.description,
  category: tool.category,
  ...declared,
  inputSchema: tool.inputSchema,
  annotations: tool.annotations,
  timeoutMs: tool.timeoutMs,
  idempotent: tool.idempotent
})
