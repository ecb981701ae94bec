/**
 * The glossary for users: the words of docs/glossary.md that have a meaning in the product, with their meanings.
 */
/** Chapters about how this project writes are left out. */
const CHAPTERS = ["People and things", "Calls", "Money", "Receipts and the log", "Trust"]

/** Of a row `| meaning | word | what not to write |`. */
const ROW = /^\|((?:[^|\\]|\\.)+)\|((?:[^|\\]|\\.)+)\|/u

const rowsOf = (lines: ReadonlyArray<string>): ReadonlyArray<readonly [word: string, meaning: string]> =>
  lines.flatMap((line) => {
    const [, meaning, word] = ROW.exec(line) ?? []
    return meaning === undefined || word === undefined ? [] : [[word.trim(), meaning.trim()] as const]
  })

export const glossaryMarkdown = (source: string): string => {
  const chapters = source.split(/^## /mu).slice(1)
  const shown = chapters.filter((chapter) => CHAPTERS.includes(chapter.split("\n")[0]!.trim()))
  return [
    "# Glossary",
    "The words of this documentation, of the API and of the pages. One concept has one word.",
    ...shown.map((chapter) => {
      const [title = "", ...lines] = chapter.split("\n")
      // After the header and the line below it. How to name an unnamed actor is a rule for writing.
      const rows = rowsOf(lines)
        .slice(2)
        .filter(([word]) => !word.startsWith("name it:"))
        .map(([word, meaning]) => `| ${word} | ${meaning} |`)
      return `## ${title.trim()}\n\n| word | meaning |\n| --- | --- |\n${rows.join("\n")}`
    })
  ].join("\n\n")
}
