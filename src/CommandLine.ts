/**
 * The command line. A failed start prints one sentence on stderr and exits with code 1. Commands load their modules on
 * demand, because loading the service takes longer than most commands.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Layer } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { type AppConfig, describeConfig, type Needs, readConfig } from "./config/AppConfig.ts"
import { type Arguments, checkDotEnv, helpText, parseArguments, readDotEnv } from "./config/Arguments.ts"
import { withEarlyPostgres } from "./layers/EarlyPostgres.ts"
import { needing } from "./layers/OptionalPackages.ts"
import { logging, nodeClock } from "./layers/Process.ts"
import { sentenceOf } from "./StartFailure.ts"

type OnDatabase = Exclude<Arguments["command"], "config" | "help" | "mcp" | "serve" | "user" | "verify" | "witness">

const onDatabase = Effect.fnUntraced(function* (
  command: OnDatabase,
  { endSessions: endOptions, forget: options, json, reviewed, subject, supplement }: Arguments,
  config: AppConfig
) {
  switch (command) {
    case "migrate": {
      const { migrate } = yield* needing("@effect/sql-pg", () => import("./Migrate.ts"))
      return yield* migrate(config)
    }
    case "audit": {
      const { audit } = yield* needing("@effect/sql-pg", () => import("./Audit.ts"))
      return yield* audit(config)
    }
    case "doctor": {
      const { doctor } = yield* needing("@effect/sql-pg", () => import("./Doctor.ts"))
      return yield* doctor(config, json === true)
    }
    case "lost-calls": {
      const { listLostCalls } = yield* needing("@effect/sql-pg", () => import("./ListLostCalls.ts"))
      return yield* listLostCalls(config, reviewed === true)
    }
    case "fsck": {
      const { fsck } = yield* needing("@effect/sql-pg", () => import("./Fsck.ts"))
      return yield* fsck(config)
    }
    case "begin-log": {
      const { beginLog } = yield* needing("@effect/sql-pg", () => import("./BeginLog.ts"))
      return yield* beginLog(config)
    }
    case "invoices": {
      const { closeMonth } = yield* needing("@effect/sql-pg", () => import("./LedgerCommands.ts"))
      return yield* closeMonth(config, subject, supplement === true)
    }
    case "payouts": {
      const { workOnPayouts } = yield* needing("@effect/sql-pg", () => import("./LedgerCommands.ts"))
      return yield* workOnPayouts(config)
    }
    case "forget": {
      const { forget } = yield* needing("@effect/sql-pg", () => import("./Forget.ts"))
      return yield* forget(config, subject, options ?? { leaveMoney: false })
    }
    case "end-sessions": {
      const { endSessions } = yield* needing("@effect/sql-pg", () => import("./EndOperatorSessions.ts"))
      return yield* endSessions(config, endOptions ?? {})
    }
    default:
      return command satisfies never
  }
})

const needsOf = (command: Arguments["command"]): Needs =>
  command === "migrate" || command === "audit" || command === "lost-calls" || command === "end-sessions"
    ? "database"
    : command === "fsck"
      ? "books"
      : "everything"

/** The only place that reads the environment. */
const program = Effect.gen(function* () {
  const given = yield* Effect.fromResult(parseArguments(process.argv.slice(2)))
  const { command, flags, rest } = given
  if (command === "help") return yield* Console.log(helpText())
  if (command === "verify") {
    const { verifyFiles } = yield* Effect.promise(() => import("./VerifyFiles.ts"))
    return yield* verifyFiles(rest ?? [])
  }
  if (command === "witness") {
    const { witness } = yield* Effect.promise(() => import("./WitnessCommand.ts"))
    return yield* witness(rest ?? [])
  }
  if (command === "user") {
    const { userCommand } = yield* Effect.promise(() => import("./user/UserCommands.ts"))
    return yield* userCommand(rest ?? [], process.env)
  }
  const dotEnv = existsSync(".env") ? readDotEnv(readFileSync(".env", "utf8")) : {}
  const sources = [flags, process.env, dotEnv]
  if (command === "mcp") {
    const { mcpCommand } = yield* Effect.promise(() => import("./McpCommand.ts"))
    return yield* mcpCommand(rest ?? [], sources, process.env)
  }
  yield* Effect.fromResult(checkDotEnv(dotEnv))
  const config = yield* Effect.fromResult(readConfig(sources, needsOf(command)))
  if (command === "config") return yield* Console.log(describeConfig(config))
  if (command !== "serve") {
    return yield* Effect.provide(onDatabase(command, given, config), Layer.merge(logging(config), nodeClock(config)))
  }
  const { stopWithLauncher } = yield* Effect.promise(() => import("./StopWithLauncher.ts"))
  yield* stopWithLauncher(process.env)
  return yield* withEarlyPostgres(
    config,
    Effect.flatMap(
      Effect.promise(() => import("./Serve.ts")),
      ({ serve }) => serve(config)
    )
  )
}).pipe(
  Effect.tapError((error) => Console.error(sentenceOf(error))),
  // Such as a database that is not available.
  Effect.tapDefect((defect) => Console.error(sentenceOf(defect instanceof Error ? defect : new Error(String(defect)))))
)

export const run = (): void => NodeRuntime.runMain(program, { disableErrorReporting: true })
