/**
 * Calls of the market door's own tools. `call_tool` is a call of another tool, billed as any other.
 */
import { Effect, Schema } from "effect"
import { ToolAliases } from "../../../../domain/mcp/ToolAliases.ts"
import { makeNearestAliases } from "../../../../domain/mcp/ToolboxSearch.ts"
import { ToolNotFound, type ToolReference } from "../../../../domain/metering/ToolDirectory.ts"
import { ToolId } from "../../../../domain/shared/Ids.ts"
import { membersOf } from "../../../../domain/shared/JsonText.ts"
import type { Microcents } from "../../../../domain/shared/Microcents.ts"
import { StoreUnavailable } from "../../../../domain/shared/StoreUnavailable.ts"
import { payloadDecoder } from "../../pipeline/Decoding.ts"
import type { ValidationFailed } from "../../pipeline/Failures.ts"
import type { Consumer, DoorTool, ToolArguments } from "../Door.ts"
import { makeMarketAnswers } from "./MarketAnswers.ts"
import { BalanceInput, CallToolInput, DescribeToolInput, QuoteInput, SearchToolsInput } from "./MarketToolFields.ts"
import type { MarketTool } from "./MarketToolList.ts"
import { ownError, ownResult } from "./OwnResult.ts"

const isToolId = Schema.is(ToolId)

export const makeOwnTools = Effect.gen(function* () {
  const answers = yield* makeMarketAnswers
  const aliases = yield* ToolAliases
  const nearestTo = yield* makeNearestAliases

  /**
   * A bare name is not accepted: the tool that it would mean is not always the one that the model has in mind, and any
   * provider may list a tool that is named like an alias, or like a qualified name of another provider.
   */
  const referenceOf = (
    caller: Consumer,
    name: string
  ): Effect.Effect<ToolReference, ToolNotFound | StoreUnavailable> => {
    if (isToolId(name)) return Effect.succeed(byId(name))
    if (name.includes("/")) return Effect.succeed(byHandle(name))
    return Effect.flatMap(aliases.toolOf(name), (toolId) =>
      toolId === undefined
        ? Effect.flatMap(nearestTo(name, caller, []), (nearest) =>
            Effect.fail(new ToolNotFound({ tool: name, nearest }))
          )
        : Effect.succeed(byId(toolId))
    )
  }

  const answered = (given: Effect.Effect<object, Rejected | StoreUnavailable>) =>
    told(Effect.map(given, (value): DoorTool => ({ _tag: "Own", result: ownResult(value) })))

  const run: Readonly<
    Record<
      MarketTool,
      (
        caller: Consumer,
        given: ToolArguments,
        maxCost: Microcents | undefined
      ) => Effect.Effect<DoorTool, StoreUnavailable>
    >
  > = {
    search_tools: (_, given) => answered(Effect.flatMap(decode.search(given.value), answers.searchTools)),

    describe_tool: (caller, given) =>
      answered(
        Effect.flatMap(decode.describe(given.value), ({ tool }) =>
          Effect.flatMap(referenceOf(caller, tool), (reference) => answers.describeTool(caller, reference))
        )
      ),

    quote: (caller, given, maxCost) =>
      answered(
        Effect.flatMap(decode.quote(given.value), (input) =>
          Effect.flatMap(referenceOf(caller, input.tool), (reference) =>
            answers.quote(caller, reference, input, maxCost)
          )
        )
      ),

    balance: (caller, given) => answered(Effect.flatMap(decode.balance(given.value), () => answers.balance(caller))),

    call_tool: (caller, given) =>
      told(
        Effect.flatMap(decode.call(given.value), (input) =>
          Effect.map(referenceOf(caller, input.tool), (tool): DoorTool => ({
            _tag: "Billed",
            tool,
            arguments: {
              text: membersOf(given.text).findLast(({ name }) => name === "arguments")?.text ?? "{}",
              value: input.arguments ?? {}
            },
            maxCost: input.max_cost_microcents,
            idempotencyKey: input.idempotency_key
          }))
        )
      )
  }
  return run
})

type Rejected = Error & { readonly _tag: string }

/** What is wrong with the call is for the model: a JSON-RPC error would not reach it. */
const told = <E extends Rejected>(work: Effect.Effect<DoorTool, E | StoreUnavailable>) =>
  work.pipe(
    Effect.catch((error): Effect.Effect<DoorTool, StoreUnavailable> =>
      error instanceof StoreUnavailable
        ? Effect.fail(error)
        : Effect.succeed({ _tag: "Own", result: ownError(sentencesOf(error)) })
    )
  )

const FAULTS_SHOWN_MAX = 10

const sentencesOf = (error: Rejected): string => {
  if (isInvalid(error))
    return error.faults
      .slice(0, FAULTS_SHOWN_MAX)
      .map(({ message }) => message)
      .join(" ")
  if (error instanceof ToolNotFound) {
    return `${error.message} Send \`tool\` of a result of search_tools, such as \`demo/echo\`.`
  }
  const violations = "violations" in error ? (error.violations as ReadonlyArray<Violation>) : []
  const shown = violations
    .slice(0, FAULTS_SHOWN_MAX)
    .map(({ message, path }) => (path.length === 0 ? message : `\`${path.join(".")}\` ${message}`))
  return [error.message, ...(shown.length === 0 ? [] : [`${shown.join("; ")}.`])].join(" ")
}

interface Violation {
  readonly path: ReadonlyArray<string>
  readonly message: string
}

const isInvalid = (error: Rejected): error is ValidationFailed => error._tag === "ValidationFailed"

const byId = (toolId: ToolId): ToolReference => ({ toolId, toolName: undefined, providerId: undefined })

const byHandle = (name: string): ToolReference => ({
  toolId: undefined,
  toolName: name,
  providerId: undefined,
  isQualified: true
})

const decoderOf = <S extends Schema.Top>(schema: S) =>
  payloadDecoder(schema) as (input: unknown) => Effect.Effect<S["Type"], ValidationFailed>

const decode = {
  search: decoderOf(SearchToolsInput),
  describe: decoderOf(DescribeToolInput),
  call: decoderOf(CallToolInput),
  quote: decoderOf(QuoteInput),
  balance: decoderOf(BalanceInput)
}
