/**
 * The counts of a test run, file by file, and the line that states them.
 */
export interface FileResult {
  /** Relative to the project. */
  readonly path: string
  readonly passed: number
  /** A file that cannot be loaded, or whose hook fails, counts as one failed test. */
  readonly failed: number
  readonly skipped: number
}

export interface RunResult {
  readonly files: ReadonlyArray<FileResult>
  /** Failures that belong to no file, such as an error outside of every test. */
  readonly strayErrors: number
}

const totalOf = (files: ReadonlyArray<FileResult>, figure: "passed" | "failed" | "skipped"): number =>
  files.reduce((sum, file) => sum + file[figure], 0)

export const failuresIn = ({ files, strayErrors }: RunResult): number => totalOf(files, "failed") + strayErrors

/** `2894 passed, 0 failed`; skipped tests are named only where there are some. */
export const closingLine = (result: RunResult): string => {
  const skipped = totalOf(result.files, "skipped")
  const counts = `${totalOf(result.files, "passed")} passed, ${failuresIn(result)} failed`
  return skipped === 0 ? counts : `${counts}, ${skipped} skipped`
}
