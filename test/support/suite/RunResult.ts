/**
 * The counts and times of a test run, file by file, and the lines that a run ends with.
 */
export interface FileResult {
  /** Relative to the project. */
  readonly path: string
  readonly passed: number
  /** A file that cannot be loaded, or whose hook fails, counts as one failed test. */
  readonly failed: number
  /** Each skipped test by its name, with the reason where it has one. */
  readonly skipped: ReadonlyArray<string>
  /** With loading it. */
  readonly durationMs: number
}

export interface RunResult {
  readonly files: ReadonlyArray<FileResult>
  /** Failures that belong to no file, such as an error outside of every test. */
  readonly strayErrors: number
  readonly durationMs: number
}

const SLOWEST = 10

const totalOf = (files: ReadonlyArray<FileResult>, figure: "passed" | "failed" | "durationMs"): number =>
  files.reduce((sum, file) => sum + file[figure], 0)

export const failuresIn = ({ files, strayErrors }: RunResult): number => totalOf(files, "failed") + strayErrors

/**
 * What did not run, the slowest files, and the counts as the last line: `2894 passed, 0 failed`. `missing` has a line for
 * each program that the tests use and the machine lacks.
 */
export const closingText = (result: RunResult, missing: ReadonlyArray<string> = []): string => {
  const { durationMs, files } = result
  const skipped = files.flatMap((file) => file.skipped)
  const slowest = files.toSorted((one, other) => other.durationMs - one.durationMs).slice(0, SLOWEST)
  const counts = `${totalOf(files, "passed")} passed, ${failuresIn(result)} failed`
  return [
    ...section(
      "Slowest files:",
      slowest.map((file) => `${seconds(file.durationMs)}  ${file.path}`)
    ),
    ...section("Total:", [
      `${seconds(durationMs)}  of ${files.length} files, which took ${(totalOf(files, "durationMs") / 1_000).toFixed(0)} s one by one`
    ]),
    ...section("Not installed:", missing),
    ...section("Did not run:", skipped),
    "",
    skipped.length === 0 ? counts : `${counts}, ${skipped.length} skipped`
  ].join("\n")
}

const section = (title: string, lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  ${line}`)]

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`.padStart(8)
