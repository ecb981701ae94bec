/**
 * The tree of commands: what each is, its flags, and what it needs. The commands of users, and those that need no configuration,
 * are in `user` with what they do. What operators' commands do is loaded when one runs: it takes longer than most commands, and
 * needs an optional package.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer, type Option } from "effect"
import { Argument, CliConfig, CliError, CliOutput, Command, Flag, GlobalFlag } from "effect/cli"
import { API_VERSION } from "../adapters/http/contract/BaseUrl.ts"
import { guessOf } from "../domain/shared/NearestName.ts"
import { type AppConfig, baseUrlOf, describeConfig, type Needs, type Source } from "./config/AppConfig.ts"
import { settings } from "./config/Settings.ts"
import { needing } from "./layers/OptionalPackages.ts"
import { logging, nodeClock } from "./layers/Process.ts"
import { configOfProcess, serve as served } from "./Start.ts"
import { call } from "./user/CallCommand.ts"
import { CommandFailure, failed } from "./user/CommandFailure.ts"
import { given, switchFlag } from "./user/CommandInput.ts"
import { funds } from "./user/FundsCommand.ts"
import { keys } from "./user/KeysCommand.ts"
import { login, logout, whoami } from "./user/LoginCommand.ts"
import { LoginFile } from "./user/Market.ts"
import { mcp as mcpOf } from "./user/McpCommand.ts"
import { receipts, verify } from "./user/ReceiptsCommand.ts"
import { tools } from "./user/ToolsCommand.ts"
import { witness } from "./WitnessCommand.ts"

const NAME = "agent-tool-billing"

/** Every command that reads the configuration has every setting as a flag. */
const settingFlags = Object.fromEntries(
  Object.entries(settings).map(([name, { fallback, meaning }]) => {
    const description = fallback === undefined ? meaning : `${meaning} (${fallback})`
    const flag = Flag.String(name.toLowerCase().replaceAll("_", "-")).pipe(Flag.withDescription(description))
    return [name, Flag.optional(flag)]
  })
)

type SettingFlags = Readonly<Record<string, Option.Option<string>>>

const sourceOf = (flags: SettingFlags): Source =>
  Object.fromEntries(Object.entries(flags).map(([name, value]) => [name, given(value)]))

const configured = Effect.fnUntraced(function* <A, E>(
  flags: SettingFlags,
  needs: Needs,
  work: (config: AppConfig) => Effect.Effect<A, E>
) {
  const config = yield* configOfProcess(sourceOf(flags), needs)
  yield* Effect.provide(work(config), Layer.merge(logging(config), nodeClock(config)))
})

const accountCommands = needing("@effect/sql-pg", () => import("./AccountCommands.ts"))
const archiveCommand = needing("@effect/sql-pg", () => import("./ArchiveCommand.ts"))
const databaseCommands = needing("@effect/sql-pg", () => import("./DatabaseCommands.ts"))
const ledgerCommands = needing("@effect/sql-pg", () => import("./LedgerCommands.ts"))
const logCommands = needing("@effect/sql-pg", () => import("./LogCommands.ts"))

const serve = Command.make("serve", settingFlags, (flags) => served(sourceOf(flags))).pipe(
  Command.withDescription("Run the service, as without a command")
)

const config = Command.make("config", settingFlags, (flags) =>
  configured(flags, "everything", (config) => Console.log(describeConfig(config)))
).pipe(Command.withDescription("Print the configuration without secrets"))

const migrate = Command.make("migrate", settingFlags, (flags) =>
  configured(flags, "database", (config) => Effect.flatMap(databaseCommands, ({ migrate }) => migrate(config)))
).pipe(Command.withDescription("Update the database schema"))

const doctor = Command.make(
  "doctor",
  { json: switchFlag("json", "Print the findings as JSON"), settings: settingFlags },
  ({ json, settings }) =>
    configured(settings, "everything", (config) =>
      Effect.flatMap(databaseCommands, ({ doctor }) => doctor(config, json))
    )
).pipe(Command.withDescription("Report what is wrong with the database. Exit code 1 on a problem"))

const lostCalls = Command.make(
  "lost-calls",
  {
    reviewed: switchFlag("reviewed", "Mark them as reviewed, which ends the alert"),
    settings: settingFlags
  },
  ({ reviewed, settings }) =>
    configured(settings, "database", (config) =>
      Effect.flatMap(databaseCommands, ({ listLostCalls }) => listLostCalls(config, reviewed))
    )
).pipe(Command.withDescription("List calls that a failover lost"))

const audit = Command.make(
  "audit",
  {
    files: Flag.optional(Flag.String("files").pipe(Flag.withDescription("Also from the archives in this folder"))),
    settings: settingFlags
  },
  ({ files, settings }) =>
    configured(settings, "database", (config) =>
      Effect.flatMap(ledgerCommands, ({ audit }) => audit(config, given(files)))
    )
).pipe(Command.withDescription("Recompute every balance from the transfers. Exit code 1 if one differs"))

const archive = Command.make(
  "archive",
  {
    before: Flag.optional(
      Flag.String("before").pipe(Flag.withDescription("Month such as 2026-01: earlier ones are moved"))
    ),
    undo: Flag.optional(
      Flag.String("undo").pipe(Flag.withDescription("Manifest of the newest archive, to put it back"))
    ),
    settings: settingFlags
  },
  ({ before, settings, undo }) =>
    configured(settings, "database", (config) =>
      Effect.flatMap(archiveCommand, ({ archive }) => archive(config, given(before), given(undo)))
    )
).pipe(Command.withDescription("Move receipts of old months to files"))

const invoices = Command.make(
  "invoices",
  {
    month: Argument.String("month").pipe(
      Argument.withDescription("Such as 2026-10. Default: the last month"),
      Argument.optional
    ),
    supplement: switchFlag("supplement", "For what was recorded after the month was closed too early"),
    settings: settingFlags
  },
  ({ month, settings, supplement }) =>
    configured(settings, "everything", (config) =>
      Effect.flatMap(ledgerCommands, ({ closeMonth }) => closeMonth(config, given(month), supplement))
    )
).pipe(Command.withDescription("Create the documents of a month"))

const payouts = Command.make("payouts", settingFlags, (flags) =>
  configured(flags, "everything", (config) =>
    Effect.flatMap(ledgerCommands, ({ workOnPayouts }) => workOnPayouts(config))
  )
).pipe(Command.withDescription("Continue interrupted payouts"))

const fsck = Command.make("fsck", settingFlags, (flags) =>
  configured(flags, "books", (config) => Effect.flatMap(logCommands, ({ fsck }) => fsck(config)))
).pipe(Command.withDescription("Check the log against the receipts, then run audit. Exit code 1 if anything differs"))

const beginLog = Command.make("begin-log", settingFlags, (flags) =>
  configured(flags, "everything", (config) => Effect.flatMap(logCommands, ({ beginLog }) => beginLog(config)))
).pipe(Command.withDescription("Start a new log after the database lost a part of the old one"))

const forget = Command.make(
  "forget",
  {
    account: Argument.String("account-id").pipe(
      Argument.withDescription("ID of a consumer or a provider, as in /api/v1/market/keys or a receipt")
    ),
    by: Flag.String("by").pipe(Flag.withDescription("Who requested it, which is recorded")),
    leaveMoney: switchFlag("leave-money", "Also if the account has a balance, which stays in the ledger"),
    settings: settingFlags
  },
  ({ account, settings, ...options }) =>
    configured(settings, "everything", (config) =>
      Effect.flatMap(accountCommands, ({ forget }) => forget(config, account, options))
    )
).pipe(Command.withDescription("Erase an account's personal data"))

const endSessions = Command.make(
  "end-sessions",
  {
    by: Flag.String("by").pipe(Flag.withDescription("Your name, which is recorded in the audit trail")),
    reason: Flag.String("reason").pipe(Flag.withDescription("Why, which is recorded in the audit trail")),
    settings: settingFlags
  },
  ({ settings, ...options }) =>
    configured(settings, "database", (config) =>
      Effect.flatMap(accountCommands, ({ endSessions }) => endSessions(config, options))
    )
).pipe(Command.withDescription("End all sessions of the operator"))

const mcp = mcpOf(Effect.map(configOfProcess({}), baseUrlOf))

const help = Command.make("help", {}, () => new CliError.ShowHelp({ commandPath: [NAME], errors: [] })).pipe(
  Command.withDescription("List all commands and settings")
)

const ofUsers = [login, logout, whoami, tools, call, keys, funds, receipts] as const

const root = Command.make(NAME, settingFlags, (flags) => served(sourceOf(flags))).pipe(
  Command.withDescription(
    "Billing, metering and authentication for MCP tool calls. Without a command it runs the service. Flags of settings are " +
      "environment variables, too, or lines of .env: --data-dir is DATA_DIR"
  ),
  Command.withSubcommands([
    { group: "Commands of users", commands: ofUsers },
    {
      group: "Commands of operators",
      commands: [
        serve,
        migrate,
        audit,
        doctor,
        lostCalls,
        archive,
        fsck,
        beginLog,
        verify,
        witness,
        mcp,
        invoices,
        payouts,
        forget,
        endSessions,
        config,
        help
      ]
    }
  ])
)

/** `presenter`: a failure is printed once, by the caller. */
const output = Layer.mergeAll(
  CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] }),
  CliOutput.layerPresenter({
    present: (event) => (event._tag === "InvalidInvocation" ? Effect.void : CliOutput.defaultPresenter.present(event))
  })
)

/**
 * A value that begins with `-` would be read as short flags: a letter each in the error, or `-h` and `-v`, which run instead of
 * the command and succeed.
 */
const isLooseValue = (word: string, before: string | undefined): boolean =>
  /^-[^-]/u.test(word) && Number.isNaN(Number(word)) && (word.length > 2 || /^--[^=]+$/u.test(before ?? ""))

const checked = (words: ReadonlyArray<string>) => {
  const end = words.indexOf("--")
  const flags = end === -1 ? words : words.slice(0, end)
  return flags.some((word, at) => isLooseValue(word, flags[at - 1]))
    ? Effect.fail(failed("invalid", "A value that begins with `-` is given as --flag=value."))
    : Effect.void
}

export const runCommand = (words: ReadonlyArray<string>) =>
  checked(words).pipe(
    Effect.andThen(Command.runWith(root, { version: API_VERSION })(words)),
    Effect.catchIf(CliError.isCliError, (error) =>
      error._tag !== "ShowHelp"
        ? Effect.fail(failed("invalid", error.message))
        : error.errors.length === 0
          ? Effect.void
          : Effect.fail(invalidInvocation(error))
    ),
    Effect.mapError((error) => (error instanceof CommandFailure ? asReported(error, words) : error)),
    Effect.provide(Layer.provideMerge(LoginFile.layer(process.env), Layer.merge(NodeServices.layer, output)))
  )

const invalidInvocation = ({ commandPath, errors }: CliError.ShowHelp) => {
  // The word after an unknown flag is its value, not a command.
  const faults = errors.filter((error, at) => at === 0 || error._tag !== "UnknownSubcommand").map(faultOf)
  return failed("invalid", `${faults.join(" ")} \`${commandPath.join(" ")} --help\` shows what it takes.`)
}

const faultOf = (error: CliError.NonShowHelpErrors): string => {
  switch (error._tag) {
    case "UnrecognizedOption":
      return `Unknown flag "${error.option}".${guessOf(error.suggestions)}`
    case "UnknownSubcommand":
      return `Unknown command "${error.subcommand}".${guessOf(error.suggestions)}`
    default:
      return `${error.message.replaceAll(/\s*\n\s*/gu, " ").replace(/\.$/u, "")}.`
  }
}

/** Operators' commands have one exit code for all failures. */
const asReported = (failure: CommandFailure, words: ReadonlyArray<string>): CommandFailure =>
  !ofUsers.some(({ name }) => name === words[0])
    ? failed("failed", failure.text)
    : words.includes("--json")
      ? new CommandFailure({ ...failure, asJson: true })
      : failure
