/**
 * The command line: a command, then `--flag value` or `--flag=value` with the settings' names in kebab case.
 */
import { Result, Schema } from "effect"
import { parseEnv } from "node:util"
import { GUESSES_MAX, guessOf, misspelledName, nearestNames } from "../../domain/shared/NearestName.ts"
import { ConfigInvalid, type Source } from "./AppConfig.ts"
import { type SettingName, settings } from "./Settings.ts"

export const commands = {
  serve: "run the service, like `npm start`",
  migrate: "update the database schema",
  audit: "recompute every balance from the transfers",
  doctor: "report what is wrong with the database; `--json` for machines",
  "lost-calls": "list calls that a failover lost; `--reviewed` ends the alert",
  fsck: "check the log against the receipts, then run audit",
  "begin-log": "start a new log after the database lost a part of the old one",
  verify: "verify a receipt offline: `verify receipt.json receipt.tlog-proof --vkey …`",
  witness: "follow a log and sign its checkpoints: `witness --help`",
  mcp: "print the configuration of an MCP client: `mcp config cursor --provider demo`",
  invoices:
    "create the documents of a month (`invoices 2026-10`, default: last month); `--supplement` for a month that was " +
    "closed too early",
  payouts: "continue interrupted payouts",
  forget: "erase an account's personal data: `forget <account id> --by <who>`; `--leave-money` if it has a balance",
  "end-sessions": "end all sessions of the operator: `--by <who> --reason <why>`",
  config: "print the configuration without secrets",
  help: "print this text"
} as const
export type CommandName = keyof typeof commands

/** Of users, who call tools with a key of the service. src/user has them. */
export const userCommands = {
  login: "sign in to a service with an API key, or register",
  logout: "remove the stored key from this machine",
  whoami: "show the service and the account that you are signed in to",
  tools: "find tools and their prices: `tools search weather`",
  call: 'call a tool: `call demo/echo \'{"message": "hello"}\'`',
  keys: "list, create and revoke API keys",
  funds: "show your balance and add funds",
  receipts: "list, show and verify receipts"
} as const

export class ArgumentsInvalid extends Schema.TaggedError<ArgumentsInvalid>()("ArgumentsInvalid", {
  problem: Schema.String
}) {
  override get message() {
    return `${this.problem} \`help\` lists all commands and flags.`
  }
}

export interface Arguments {
  /** `user`: a command of `userCommands`, or completion for a shell. `rest` names it. */
  readonly command: CommandName | "user"
  /** The argument of a command: the month of `invoices`, the account of `forget`. */
  readonly subject?: string
  readonly forget?: ForgetOptions
  readonly endSessions?: EndSessionsOptions
  /** Of `invoices`: for what was recorded after the month was closed. */
  readonly supplement?: boolean
  /** Of `doctor`: the findings as JSON. */
  readonly json?: boolean
  /** Of `lost-calls`: marks them as reviewed. */
  readonly reviewed?: boolean
  readonly flags: Source
  /** The arguments of a command that parses them itself. */
  readonly rest?: ReadonlyArray<string>
}

export interface ForgetOptions {
  readonly by?: string
  readonly leaveMoney: boolean
}

export interface EndSessionsOptions {
  readonly by?: string
  readonly reason?: string
}

const names = [...Object.keys(userCommands), ...Object.keys(commands)]

export const flagOf = (name: string): string => `--${name.toLowerCase().replaceAll("_", "-")}`
const byFlag = new Map(Object.keys(settings).map((name) => [flagOf(name), name as SettingName]))

export const parseArguments = (argv: ReadonlyArray<string>): Result.Result<Arguments, ArgumentsInvalid> => {
  const rest = [...argv]
  const first = rest[0]
  if (first !== undefined && (Object.hasOwn(userCommands, first) || /^--(?:completions|version)(?:=|$)/u.test(first))) {
    return Result.succeed({ command: "user", flags: {}, rest })
  }
  let command: CommandName = "serve"
  if (first !== undefined && !first.startsWith("--")) {
    if (!Object.hasOwn(commands, first))
      return fail(`Unknown command "${first}".${guessOf(nearestNames(first, names, GUESSES_MAX))}`)
    command = first as CommandName
    rest.shift()
  }
  // These commands work without a service: they have no settings, and their own flags.
  if (command === "verify" || command === "witness" || command === "mcp") {
    return Result.succeed({ command, flags: {}, rest })
  }
  const hasSubject = command === "invoices" || command === "forget"
  const subject = hasSubject && rest[0]?.startsWith("--") === false ? rest.shift() : undefined
  const forget = command === "forget" ? takeForgetOptions(rest) : undefined
  const endSessions = command === "end-sessions" ? takeEndSessionsOptions(rest) : undefined
  const supplement = command === "invoices" && take(rest, "--supplement", 1) !== undefined
  const json = command === "doctor" && take(rest, "--json", 1) !== undefined
  const reviewed = command === "lost-calls" && take(rest, "--reviewed", 1) !== undefined
  const flags: Record<string, string> = {}
  while (rest.length > 0) {
    const word = rest.shift()!
    if (word === "--help") return Result.succeed({ command: "help", flags })
    const [flag, inline] = splitOnce(word)
    const name = byFlag.get(flag)
    if (name === undefined)
      return fail(`Unknown flag "${flag}".${guessOf(nearestNames(flag, byFlag.keys(), GUESSES_MAX))}`)
    const value = inline ?? rest.shift()
    if (value === undefined) return fail(`${flag} requires a value.`)
    flags[name] = value
  }
  return Result.succeed({
    command,
    flags,
    ...(subject === undefined ? {} : { subject }),
    ...(forget === undefined ? {} : { forget }),
    ...(endSessions === undefined ? {} : { endSessions }),
    ...(supplement ? { supplement } : {}),
    ...(json ? { json } : {}),
    ...(reviewed ? { reviewed } : {})
  })
}

export const readDotEnv = (contents: string): Source => parseEnv(contents)

/** The file may be shared with other programs: a name is rejected if it is almost that of a setting. */
export const checkDotEnv = (values: Source): Result.Result<Source, ConfigInvalid> => {
  const faults = Object.entries(values).flatMap(([name, value]) => {
    const isOther = value === "" || Object.hasOwn(settings, name)
    const nearest = isOther ? undefined : misspelledName(name, Object.keys(settings))
    return nearest === undefined ? [] : [`${name}: Unknown setting.${guessOf([nearest])}`]
  })
  return faults.length === 0 ? Result.succeed(values) : Result.fail(new ConfigInvalid({ faults }))
}

const FLAG_CHARS = Math.max(...[...byFlag.keys()].map((flag) => flag.length)) + 2

export const helpText = (): string =>
  [
    "agent-tool-billing <command> [--flag value …]",
    "",
    "Commands of users (`<command> --help` shows their flags):",
    ...Object.entries(userCommands).map(([name, meaning]) => `  ${name.padEnd(12)}${meaning}`),
    "",
    "Commands of operators:",
    ...Object.entries(commands).map(([name, meaning]) => `  ${name.padEnd(12)}${meaning}`),
    "",
    "`--completions bash` (zsh, fish, powershell) prints completion for a shell.",
    "",
    "Flags (or environment variables, or lines of .env):",
    ...Object.entries(settings).map(
      ([name, setting]) =>
        `  ${flagOf(name).padEnd(FLAG_CHARS)}${setting.meaning}${setting.fallback === undefined ? "" : ` (${setting.fallback})`}`
    )
  ].join("\n")

const splitOnce = (word: string): readonly [string, string | undefined] => {
  const at = word.indexOf("=")
  return at === -1 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)]
}

/** Removes a flag of the command itself; the rest are settings. */
const take = (words: Array<string>, flag: string, count: number): ReadonlyArray<string> | undefined => {
  const at = words.indexOf(flag)
  return at === -1 ? undefined : words.splice(at, count)
}

const takeForgetOptions = (words: Array<string>): ForgetOptions => {
  const leaveMoney = take(words, "--leave-money", 1) !== undefined
  const by = take(words, "--by", 2)?.[1]
  return { leaveMoney, ...(by === undefined ? {} : { by }) }
}

const takeEndSessionsOptions = (words: Array<string>): EndSessionsOptions => {
  const by = take(words, "--by", 2)?.[1]
  const reason = take(words, "--reason", 2)?.[1]
  return { ...(by === undefined ? {} : { by }), ...(reason === undefined ? {} : { reason }) }
}

const fail = (problem: string) => Result.fail(new ArgumentsInvalid({ problem }))
