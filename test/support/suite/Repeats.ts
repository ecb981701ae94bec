/**
 * Which failed files a CI run may repeat, and the result of the run with the repeated files.
 */
import { failuresIn, type RunResult } from "./RunResult.ts"

/**
 * A failure in these files may be money that was lost in a race or a crash, or a seed that found a fault. Passing a
 * second time proves nothing, so they are never repeated.
 */
export const NEVER_REPEATED = {
  folders: ["test/crash/", "test/nodes/", "test/simulation/"],
  /** Words of a file's name, as camel case and hyphens divide it. */
  words: ["ledger", "book", "races", "crash", "killed", "interrupted", "lane", "late"],
  /** Other files, by path: the stores of calls and money, transactions, and a restored database. */
  files: [
    "test/adapters/metering/metering.test.ts",
    "test/adapters/ledger/money.test.ts",
    "test/adapters/shared/unitOfWork.test.ts",
    "test/backup/pointInTime.test.ts"
  ]
} as const

/** More failed files than this are not the accident of one file. */
export const REPEATS_MAX = 3

export const mayBeRepeated = (path: string): boolean => {
  const { files, folders, words } = NEVER_REPEATED
  const named = new Set(wordsOf(path))
  return !(
    folders.some((folder) => path.startsWith(folder)) ||
    words.some((word) => named.has(word)) ||
    files.some((file) => file === path)
  )
}

/** `test/adapters/ledger/ledgerAloneRaces.test.ts`: ledger, alone, races. */
export const wordsOf = (path: string): ReadonlyArray<string> => {
  const name = path.slice(path.lastIndexOf("/") + 1).replace(/\.test\.ts$/u, "")
  return name.split(/(?=[A-Z])|[-.]/u).map((word) => word.toLowerCase())
}

/** Empty unless repeating can still make the run pass. */
export const filesToRepeat = ({ files, strayErrors }: RunResult): ReadonlyArray<string> => {
  const failed = files.filter((file) => file.failed > 0).map(({ path }) => path)
  return strayErrors === 0 && failed.length <= REPEATS_MAX && failed.every(mayBeRepeated) ? failed : []
}

export interface RepeatedRun {
  readonly result: RunResult
  /** Failed in the whole run and passed alone. */
  readonly flaky: ReadonlyArray<string>
}

/** A file that passed alone counts with that result; any other counts as in the whole run. */
export const withRepeats = (whole: RunResult, alone: ReadonlyMap<string, RunResult>): RepeatedRun => {
  const flaky = [...alone].filter(([path, run]) => passed(path, run)).map(([path]) => path)
  const files = whole.files.map((file) =>
    flaky.includes(file.path) ? alone.get(file.path)!.files.find(({ path }) => path === file.path)! : file
  )
  return { result: { ...whole, files }, flaky }
}

const passed = (path: string, run: RunResult): boolean =>
  failuresIn(run) === 0 && run.files.some((file) => file.path === path && file.passed > 0)
