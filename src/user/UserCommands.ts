/**
 * The commands of users, and what the command line has besides: help, completion for shells, the version. Operators'
 * commands are listed for help and completion; `src/main.ts` runs them.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer } from "effect"
import { CliConfig, CliOutput, Command, Flag, GlobalFlag } from "effect/cli"
import { API_VERSION } from "../../adapters/http/contract/BaseUrl.ts"
import type { Source } from "../config/AppConfig.ts"
import { commands, flagOf } from "../config/Arguments.ts"
import { settings } from "../config/Settings.ts"
import { call } from "./CallCommand.ts"
import { CommandFailure, failed } from "./CommandFailure.ts"
import { funds } from "./FundsCommand.ts"
import { keys } from "./KeysCommand.ts"
import { login, logout, whoami } from "./LoginCommand.ts"
import { LoginFile } from "./LoginFile.ts"
import { receipts } from "./ReceiptsCommand.ts"
import { tools } from "./ToolsCommand.ts"

const NAME = "agent-tool-billing"

const settingFlags = Object.fromEntries(
  Object.entries(settings).map(([name, { meaning }]) => {
    const flag = flagOf(name).slice("--".length)
    return [name, Flag.String(flag).pipe(Flag.withDescription(meaning), Flag.optional)]
  })
)

/** For completion alone: `src/main.ts` reads their arguments. */
const operatorCommands = Object.entries(commands).map(([name, meaning]) =>
  Command.make(name, settingFlags).pipe(Command.withDescription(meaning))
)

const root = Command.make(NAME).pipe(
  Command.withDescription("Billing, metering and authentication for MCP tool calls"),
  Command.withSubcommands([login, logout, whoami, tools, call, keys, funds, receipts, ...operatorCommands])
)

/** `presenter`: a failure is printed once, by the caller. */
const output = Layer.mergeAll(
  CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] }),
  CliOutput.layerPresenter({
    present: (event) => (event._tag === "InvalidInvocation" ? Effect.void : CliOutput.defaultPresenter.present(event))
  })
)

export const userCommand = (argv: ReadonlyArray<string>, environment: Source) =>
  Command.runWith(root, { version: API_VERSION })(argv).pipe(
    Effect.catchIf(
      (error) => "_tag" in error && error._tag === "ShowHelp",
      ({ commandPath, errors }) =>
        errors.length === 0 ? Effect.void : Effect.fail(invalidInvocation(commandPath, errors))
    ),
    Effect.mapError((error) =>
      error instanceof CommandFailure && argv.includes("--json")
        ? new CommandFailure({ ...error, asJson: true })
        : error
    ),
    Effect.provide(Layer.provideMerge(LoginFile.layer(environment), Layer.merge(NodeServices.layer, output)))
  )

const invalidInvocation = (path: ReadonlyArray<string>, errors: ReadonlyArray<{ readonly message: string }>) => {
  const messages = errors.map(({ message }) => `${message.replaceAll(/\s*\n\s*/gu, " ").replace(/\.$/u, "")}.`)
  return failed("invalid", `${messages.join(" ")} \`${path.join(" ")} --help\` shows what it takes.`)
}
