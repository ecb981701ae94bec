/**
 * The phrases that docs/glossary.md bans, and where they occur in production text.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "../PlantedProject.ts"

const ROOMS = ["docs", "src", "domain", "adapters", "migrations"]
const TEXT_FILE = /\.(?:ts|md|sql|css|html|yml|json|svg|txt)$/u

/** The glossary quotes what it bans; docs/api.md is generated from sources that are checked. */
const EXEMPT = new Set(["docs/glossary.md", "docs/api.md"])

/** The list of reserved handles contains these words; `nobody` is also an account of the operating system. */
const ALLOWED: Readonly<Record<string, ReadonlyArray<string>>> = {
  "adapters/sql/embedded/ServerAccount.ts": ["nobody"],
  "domain/accounts/Handle.ts": ["nobody", "catalogue"]
}

/** What may stand between two words of a phrase: spaces, a comment's margin, the seam of two string literals. */
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
  "README.md",
  ...ROOMS.flatMap((room) =>
    readdirSync(join(projectRoot, room), { recursive: true, encoding: "utf8" })
      .map((name) => `${room}/${name.replaceAll("\\", "/")}`)
      .filter((file) => TEXT_FILE.test(file) && !EXEMPT.has(file))
  )
]

export const readProjectFile = (file: string): string => readFileSync(join(projectRoot, file), "utf8")
