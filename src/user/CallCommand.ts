/**
 * `call`: calls a tool. The tool's result is on stdout; cost, receipt and progress are on stderr.
 */
import { Console, Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import type { Schemas } from "../../client/Contract.ts"
import { formatPrice } from "../../domain/shared/Microcents.ts"
import { type CommandFailure, failed } from "./CommandFailure.ts"
import { dollars, fromFile, fromStdin, given, json, switchFlag, textFlag } from "./CommandInput.ts"
import { safeJson, safeLine, safeText, shown } from "./CommandOutput.ts"
import { ask, Market } from "./Market.ts"

type Input = NonNullable<Schemas["ProxyCall"]["input"]>

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u

const parameters = {
  json,
  tool: Argument.String("tool").pipe(Argument.withDescription("Qualified name, such as demo/echo, or ID")),
  input: Argument.String("input").pipe(
    Argument.withDescription("JSON object, @file or - for stdin. Default: {}"),
    Argument.optional
  ),
  maxCost: textFlag(
    "max-cost",
    "The most that the call may cost, in dollars. Required for tools that are priced by usage"
  ),
  idempotencyKey: textFlag("idempotency-key", "Repeats with the same key are executed and charged once"),
  dryRun: switchFlag("dry-run", "Print a quote; call and charge nothing")
}

export const call = Command.make(
  "call",
  parameters,
  Effect.fn("call")(function* ({ dryRun, idempotencyKey, input: source, json, maxCost, tool }) {
    const limit = given(maxCost)
    const payload: Schemas["ProxyCall"] = {
      ...(UUID.test(tool) ? { tool_id: tool } : { tool_name: tool }),
      input: yield* inputOf(source),
      ...(limit === undefined ? {} : { max_cost_microcents: yield* dollars("--max-cost", limit) }),
      ...(dryRun ? { dry_run: true } : {})
    }
    const key = given(idempotencyKey)
    const run = yield* Effect.context<never>()
    const answer = yield* ask(`Calling ${safeLine(tool)}`, (client, signal) =>
      client.calls.proxy({
        payload,
        signal,
        ...(key === undefined ? {} : { idempotencyKey: key }),
        onProgress: (progress) => Effect.runSyncWith(run)(Console.error(progressLine(progress)))
      })
    ).pipe(Effect.mapError(repeatable))
    if ("quote" in answer) {
      const { cost_microcents: cost, free_tier_remaining: free, hold_microcents: hold } = answer.quote
      return yield* shown(
        json,
        answer,
        () =>
          `${answer.quote.qualified_name} costs ${priced(cost)} and reserves ${priced(hold)}` +
          `${free === null || free === 0 ? "" : ` (${free} free calls left)`}. Nothing was called.`
      )
    }
    yield* shown(json, answer, () => textOf(answer.result))
    const { cost_microcents: cost, outcome, receipt_id: receipt, remaining_balance_microcents: left } = answer.meta
    if (!json) yield* Console.error(`Cost ${priced(cost)}, ${priced(left, "$0.00")} left. Receipt ${receipt}`)
    if (outcome === "error") return yield* failed("tool_failed", "The tool reported an error.", { receipt_id: receipt })
  }, Effect.provide(Market.layer))
).pipe(
  Command.withDescription("Call a tool"),
  Command.withExamples([
    { command: `agent-tool-billing call demo/echo '{"message": "hello"}'`, description: "With JSON" },
    {
      command: "agent-tool-billing call demo/echo @input.json --max-cost 0.25",
      description: "From a file, with a limit"
    },
    { command: "generate | agent-tool-billing call demo/echo - --json", description: "From stdin, for a program" }
  ])
)

/** It may have been executed. */
const repeatable = (failure: CommandFailure): CommandFailure => {
  const key = failure.details?.["idempotency_key"]
  if (failure.kind !== "unavailable" || typeof key !== "string") return failure
  const advice = `Repeat the command with --idempotency-key ${key}: the tool is called and charged at most once.`
  return failed(failure.kind, `${failure.text} ${advice}`, failure.details)
}

const inputOf = Effect.fnUntraced(function* (source: Option.Option<string>) {
  if (Option.isNone(source)) return {}
  const { value } = source
  const text = value === "-" ? yield* fromStdin : value.startsWith("@") ? yield* fromFile(value.slice(1)) : value
  const parsed = yield* Effect.try({
    try: () => JSON.parse(text) as unknown,
    catch: (error) => failed("invalid", `The input is not JSON: ${String(error).replace("SyntaxError: ", "")}.`)
  })
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    return yield* failed("invalid", `The input must be a JSON object, such as {"message": "hello"}.`)
  }
  return parsed as Input
})

const priced = (microcents: number, zero = "nothing"): string =>
  microcents === 0 ? zero : formatPrice(BigInt(microcents))

const progressLine = ({
  message,
  progress,
  total
}: {
  readonly message?: string
  readonly progress: number
  readonly total?: number
}) => `${progress}${total === undefined ? "" : `/${total}`}${message === undefined ? "" : ` ${safeLine(message)}`}`

/** The text of an MCP result; of other results JSON. */
const textOf = (result: Schemas["CallResult"]["result"]): string => {
  const { content } = result
  if (!Array.isArray(content) || content.length === 0) return safeJson(result["structuredContent"] ?? result)
  return content.map((part: unknown) => (isText(part) ? safeText(part.text) : safeJson(part))).join("\n")
}

const isText = (part: unknown): part is { readonly text: string } =>
  typeof part === "object" &&
  part !== null &&
  "type" in part &&
  part.type === "text" &&
  "text" in part &&
  typeof part.text === "string"
