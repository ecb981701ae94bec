/**
 * Links between Markdown files of the repository, as links between pages.
 */
import { type Guide, guidePath, guides } from "./DocsMap.ts"

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
export const withPageLinks = ({ file }: Guide, text: string): string =>
  text.replaceAll(LINK, (_, label: string, href: string) => {
    const to = pageLink(file, href, ".md")
    return to === undefined ? label : `[${label}](${to})`
  })
