/**
 * The phrases that docs/glossary.md bans, and where they occur in text and code.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "../project/PlantedProject.ts"

const ROOMS = ["docs", "src", "domain", "adapters", "migrations", "testing"]
const TEXT_FILE = /\.(?:ts|md|sql|css|html|yml|json|svg|txt)$/u

/** The glossary and this test quote what is banned; docs/api.md is generated from sources that are checked. */
const EXEMPT = new Set([
  "docs/glossary.md",
  "docs/api.md",
  "test/house/documents/language.test.ts",
  "test/support/house/BannedPhrases.ts"
])

/** The list of reserved handles contains these words; `nobody` is also an account of the operating system. */
const ALLOWED: Readonly<Record<string, ReadonlyArray<string>>> = {
  "adapters/sql/embedded/Command.ts": ["nobody"],
  "domain/accounts/Handle.ts": ["nobody", "catalogue"]
}

/** What may separate two words of a phrase: spaces, a comment's margin, the joint of two string literals. */
const GAP = String.raw`(?:\s|[*"'\x60+]|//|--)+`

export const bannedPhrases = (glossary: string): ReadonlyArray<string> =>
  [...glossary.matchAll(/^\|.*\|$/gmu)].flatMap(([row]) =>
    [...row.matchAll(/!`([^`]+)`/gu)].map(([, phrase]) => phrase!)
  )

export const isAllowed = (file: string, phrase: string): boolean => ALLOWED[file]?.includes(phrase) ?? false

/** Whole phrases only, in any case: `mend` is not found in `recommend`. */
export const phrasesIn = (text: string, banned: ReadonlyArray<string>): ReadonlyArray<string> =>
  banned.filter((phrase) => new RegExp(`\\b${phrase.split(" ").join(GAP)}\\b`, "iu").test(text))

export const productionFiles = (): ReadonlyArray<string> => [
  "CHANGELOG.md",
  "README.md",
  ...ROOMS.flatMap((room) =>
    readdirSync(join(projectRoot, room), { recursive: true, encoding: "utf8" })
      .map((name) => `${room}/${name.replaceAll("\\", "/")}`)
      .filter((file) => TEXT_FILE.test(file) && !EXEMPT.has(file))
  )
]

/** Test files. Of these, only titles and comments are checked: other strings are requests, responses and product text. */
export const testFiles = (): ReadonlyArray<string> =>
  readdirSync(join(projectRoot, "test"), { recursive: true, encoding: "utf8" })
    .map((name) => `test/${name.replaceAll("\\", "/")}`)
    .filter((file) => file.endsWith(".ts") && !EXEMPT.has(file))

const TEXT = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\x60(?:[^\x60\\]|\\.)*\x60`
const COMMENT = String.raw`/\*[\s\S]*?\*/|//[^\n]*`
/** `it.effect("…"`, `describe("…"`, and the title after the arguments of `it.each(…)` and `it.layer(…)`. */
const TITLE = String.raw`(?:\b(?:describe|it|test)(?:\.\w+)*\(\s*|\)\(\s*)(?:${TEXT})`
/** A text is matched as a whole, so that `//` inside it starts no comment. */
const PROSE = new RegExp(`(?<prose>${TITLE}|${COMMENT})|${TEXT}`, "gu")

export const titlesAndComments = (source: string): string =>
  [...source.matchAll(PROSE)].flatMap(({ groups }) => groups?.["prose"] ?? []).join("\n\n;\n")

export const readProjectFile = (file: string): string => readFileSync(join(projectRoot, file), "utf8")
