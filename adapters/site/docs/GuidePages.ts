/**
 * The pages that are written as Markdown: guides and the operator's pages.
 */
import { Effect, Option } from "effect"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import { isOffered } from "../../../domain/catalog/CatalogStore.ts"
import { DefaultFeeBasisPoints } from "../../../domain/ledger/PlatformFee.ts"
import { DEMO_PROVIDER_ID } from "../../../domain/providers/BuiltInProvider.ts"
import { BaseUrl } from "../../http/contract/BaseUrl.ts"
import type { DocsContent } from "./DocsLayout.ts"
import {
  type Guide,
  guidePath,
  guides,
  hasSamples,
  OPERATOR_PAGES,
  operatorFile,
  operatorPageNames,
  unpublished
} from "./DocsNavigation.ts"
import { Documents, type Rendered, renderMarkdown } from "./Markdown.ts"

// The glossary for users: the words of docs/glossary.md that have a meaning in the product, with their meanings.

/** Chapters about how this project writes are left out. */
const CHAPTERS = ["People and things", "Calls", "Money", "Receipts and the log", "Trust"]

/** Reads a row `| meaning | word | what not to write |`. */
const ROW = /^\|((?:[^|\\]|\\.)+)\|((?:[^|\\]|\\.)+)\|/u

const rowsOf = (lines: ReadonlyArray<string>): ReadonlyArray<readonly [word: string, meaning: string]> =>
  lines.flatMap((line) => {
    const [, meaning, word] = ROW.exec(line) ?? []
    return meaning === undefined || word === undefined ? [] : [[word.trim(), meaning.trim()] as const]
  })

const glossaryMarkdown = (source: string): string => {
  const chapters = source.split(/^## /mu).slice(1)
  const shown = chapters.filter((chapter) => CHAPTERS.includes(chapter.split("\n")[0]!.trim()))
  return [
    "# Glossary",
    "The words of this documentation, of the API and of the pages. One concept has one word.",
    ...shown.map((chapter) => {
      const [title = "", ...lines] = chapter.split("\n")
      // Skips the header and the line below it. How to name an unnamed actor is a rule for writing.
      const rows = rowsOf(lines)
        .slice(2)
        .filter(([word]) => !word.startsWith("name it:"))
        .map(([word, meaning]) => `| ${word} | ${meaning} |`)
      return `## ${title.trim()}\n\n| word | meaning |\n| --- | --- |\n${rows.join("\n")}`
    })
  ].join("\n\n")
}

// Links between Markdown files of the repository, as links between pages.

const ELSEWHERE = /^(?:https?:\/\/|mailto:|#|\/(?!\/))/u

/** Undefined where this site has no page for it. */
export const pageLink = (from: string, href: string, ending = ""): string | undefined => {
  if (ELSEWHERE.test(href)) return href
  const to = URL.parse(href, `file:///${from}`)
  const found = guides.find(({ file }) => to?.protocol === "file:" && to.pathname === `/${file}`)
  return found === undefined ? undefined : `${guidePath(found)}${ending}${to!.hash}`
}

const LINK = /\[(?<text>[^\]]*)\]\((?<href>[^)\s]+)\)/gu

/** The Markdown of a page for agents: its links lead to Markdown as well. */
const withPageLinks = ({ file }: Guide, text: string): string =>
  text.replaceAll(LINK, (_, label: string, href: string) => {
    const to = pageLink(file, href, ".md")
    return to === undefined ? label : `[${label}](${to})`
  })

interface WrittenPage {
  readonly path: `/${string}`
  readonly rendered: Rendered
  readonly content: DocsContent
  /** Is shown where the catalog does not have the tools of the samples. */
  readonly withoutDemo: DocsContent
}

/** The Markdown has this address; a page has this service's. */
const SAMPLE_URL = "http://127.0.0.1:3000"

const NO_DEMO =
  "> This service does not list the demo provider. Use a tool of the [catalog](/catalog) where a sample calls `demo/…`."

/** The Markdown parser is loaded with the first page. */
export const writtenPages = Effect.gen(function* () {
  const documents = yield* Documents
  const baseUrl = yield* BaseUrl
  const feeBasisPoints = yield* DefaultFeeBasisPoints

  const textOf = (guide: Guide): string => {
    const text = documents.get(guide.file) ?? ""
    if (guide.slug === "glossary") return glossaryMarkdown(text)
    return hasSamples(guide) ? text.replaceAll(SAMPLE_URL, baseUrl) : text
  }
  return yield* Effect.cached(
    Effect.map(
      Effect.promise(() => import("marked")),
      ({ lexer }): ReadonlyArray<WrittenPage> => {
        const render = (file: string, text: string) =>
          renderMarkdown(lexer, text, { linkOf: (href) => pageLink(file, href) })
        const contentOf = (guide: Guide, text: string): DocsContent => {
          const { body, headings, title } = render(guide.file, text)
          return { title, description: guide.summary, headings, body, markdown: withPageLinks(guide, text) }
        }
        return [
          ...guides.map((guide): WrittenPage => {
            const text = textOf(guide)
            const content = contentOf(guide, text)
            return {
              path: guidePath(guide) as `/${string}`,
              rendered: render(guide.file, text),
              content,
              withoutDemo: text.includes('"demo/') && hasSamples(guide) ? contentOf(guide, withNote(text)) : content
            }
          }),
          ...OPERATOR_PAGES.map((page): WrittenPage => {
            const text = documents.get(operatorFile(page)) ?? unpublished(page, feeBasisPoints)
            const rendered = render("", text)
            const { summary, title } = operatorPageNames[page]
            const { body, headings } = rendered
            const content = { title, description: summary, headings, body, markdown: text }
            return { path: `/docs/${page}`, rendered, content, withoutDemo: content }
          })
        ]
      }
    )
  )
})

/** Adds the note below the title. */
const withNote = (text: string): string => text.replace("\n\n", `\n\n${NO_DEMO}\n\n`)

/** The samples work as they are where the demo provider is listed. */
export const demoListed = Effect.map(Catalog, (catalog) =>
  catalog.findOf(DEMO_PROVIDER_ID, "echo").pipe(
    Effect.map((found) => Option.exists(found, isOffered)),
    Effect.orElseSucceed(() => false)
  )
)

/** Addresses of all of them, which routes need before any is rendered. */
export const writtenPaths: ReadonlyArray<`/${string}`> = [
  ...guides.map((guide) => guidePath(guide) as `/${string}`),
  ...OPERATOR_PAGES.map((page): `/${string}` => `/docs/${page}`)
]
