/**
 * The command line: a command, then `--flag value` or `--flag=value` with the settings' names in kebab case.
 */
import { Result, Schema } from "effect"
import { parseEnv } from "node:util"
import { type Source } from "./AppConfig.ts"
import { type SettingName, settings } from "./Settings.ts"

export const commands = {
  serve: "run the service (what `npm start` does)",
  migrate: "bring the database schema up to date and end",
  audit: "recompute every balance from the transfers and end",
  fsck: "prove the log again from the receipts, and the balances from the transfers, and end",
  "begin-log": "begin a new log after the database lost a part of the old one, with a signed statement, and end",
  verify: "check a receipt offline: `verify receipt.json receipt.tlog-proof --vkey …`",
  witness: "follow a log, check that it only grows, and sign its checkpoints: `witness --help`",
  invoices:
    "make the documents of a month (`invoices 2026-10`; the last one if none is named) and end; `--supplement` for a month " +
    "that was closed too early",
  payouts: "go on with payouts that were left in the middle, once, and end",
  forget: "erase an account's personal data: `forget <account id> --by <who>`, with `--leave-money` despite a balance",
  config: "print the configuration, without secrets, and end",
  help: "print this"
} as const
export type CommandName = keyof typeof commands

export class ArgumentsInvalid extends Schema.TaggedError<ArgumentsInvalid>()("ArgumentsInvalid", {
  problem: Schema.String
}) {
  override get message() {
    return `${this.problem} \`help\` lists what there is.`
  }
}

export interface Arguments {
  readonly command: CommandName
  /** What the command is about, where it may be told: the month of `invoices`, the account of `forget`. */
  readonly subject?: string
  readonly forget?: ForgetOptions
  /** Of `invoices`: also for what was recorded after the month was closed. */
  readonly supplement?: boolean
  readonly flags: Source
  /** The words behind a command that reads them itself. */
  readonly rest?: ReadonlyArray<string>
}

export interface ForgetOptions {
  readonly by?: string
  readonly leaveMoney: boolean
}

const flagOf = (name: string): string => `--${name.toLowerCase().replaceAll("_", "-")}`
const byFlag = new Map(Object.keys(settings).map((name) => [flagOf(name), name as SettingName]))

export const parseArguments = (argv: ReadonlyArray<string>): Result.Result<Arguments, ArgumentsInvalid> => {
  const rest = [...argv]
  const first = rest[0]
  let command: CommandName = "serve"
  if (first !== undefined && !first.startsWith("--")) {
    if (!Object.hasOwn(commands, first)) return fail(`There is no command "${first}".`)
    command = first as CommandName
    rest.shift()
  }
  // These two are for whoever does not run the service: they have no settings, and flags of their own.
  if (command === "verify" || command === "witness") return Result.succeed({ command, flags: {}, rest })
  const hasSubject = command === "invoices" || command === "forget"
  const subject = hasSubject && rest[0]?.startsWith("--") === false ? rest.shift() : undefined
  const forget = command === "forget" ? takeForgetOptions(rest) : undefined
  const supplement = command === "invoices" && take(rest, "--supplement", 1) !== undefined
  const flags: Record<string, string> = {}
  while (rest.length > 0) {
    const word = rest.shift()!
    if (word === "--help") return Result.succeed({ command: "help", flags })
    const [flag, inline] = splitOnce(word)
    const name = byFlag.get(flag)
    if (name === undefined) return fail(`There is no flag "${flag}".`)
    const value = inline ?? rest.shift()
    if (value === undefined) return fail(`${flag} needs a value.`)
    flags[name] = value
  }
  return Result.succeed({
    command,
    flags,
    ...(subject === undefined ? {} : { subject }),
    ...(forget === undefined ? {} : { forget }),
    ...(supplement ? { supplement } : {})
  })
}

export const readDotEnv = (contents: string): Source => parseEnv(contents)

export const helpText = (): string =>
  [
    "agent-tool-billing <command> [--flag value …]",
    "",
    "Commands:",
    ...Object.entries(commands).map(([name, meaning]) => `  ${name.padEnd(10)}${meaning}`),
    "",
    "Flags (or environment variables, or lines of .env):",
    ...Object.entries(settings).map(
      ([name, setting]) =>
        `  ${flagOf(name).padEnd(32)}${setting.meaning}${setting.fallback === undefined ? "" : ` (${setting.fallback})`}`
    )
  ].join("\n")

const splitOnce = (word: string): readonly [string, string | undefined] => {
  const at = word.indexOf("=")
  return at === -1 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)]
}

/** Takes a flag of the command's own out of the words: what is left are settings. */
const take = (words: Array<string>, flag: string, count: number): ReadonlyArray<string> | undefined => {
  const at = words.indexOf(flag)
  return at === -1 ? undefined : words.splice(at, count)
}

const takeForgetOptions = (words: Array<string>): ForgetOptions => {
  const leaveMoney = take(words, "--leave-money", 1) !== undefined
  const by = take(words, "--by", 2)?.[1]
  return { leaveMoney, ...(by === undefined ? {} : { by }) }
}

const fail = (problem: string) => Result.fail(new ArgumentsInvalid({ problem }))
