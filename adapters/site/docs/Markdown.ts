/**
 * Markdown as HTML of this site, and generated pages as Markdown. Everything is escaped, HTML in the text too, and only links to known places become links.
 */
import { Context } from "effect"
import type { MarkedToken, Token, Tokens } from "marked"
import { breakable, type Html, html, type Part } from "../kit/Html.ts"
import { copyable } from "../kit/Site.ts"

export interface Heading {
  readonly id: string
  readonly title: string
  readonly level: number
}

export interface Rendered {
  readonly title: string
  readonly headings: ReadonlyArray<Heading>
  readonly body: Html
  /** The search finds these words below each heading; the first belong to the title. */
  readonly texts: ReadonlyArray<string>
}

interface MarkdownOptions {
  /** The address of a link in the text; undefined: its text is shown without a link. */
  readonly linkOf: (href: string) => string | undefined
}

type Lexer = (text: string) => ReadonlyArray<Token>

export const renderMarkdown = (lexer: Lexer, text: string, { linkOf }: MarkdownOptions): Rendered => {
  const headings: Array<Heading> = []
  const texts: Array<Array<string>> = [[]]
  const slugs = new Map<string, number>()

  const idOf = (title: string): string => {
    const slug = slugOf(title)
    const used = slugs.get(slug) ?? 0
    slugs.set(slug, used + 1)
    return used === 0 ? slug : `${slug}-${used}`
  }

  const heading = ({ depth, tokens }: Tokens.Heading): Html => {
    const title = plainText(tokens)
    if (depth === 1) return html`<h1>${inline(tokens)}</h1>`
    const found = { id: idOf(title), title, level: Math.min(depth, 4) }
    headings.push(found)
    texts.push([])
    const content = html`<a class="anchor" href="#${found.id}">${inline(tokens)}</a>`
    if (found.level === 2) return html`<h2 id="${found.id}">${content}</h2>`
    return found.level === 3 ? html`<h3 id="${found.id}">${content}</h3>` : html`<h4 id="${found.id}">${content}</h4>`
  }

  const table = ({ header, rows }: Tokens.Table): Html => {
    const name = `${headings.at(-1)?.title ?? "Table"}: ${plainText(header[0]?.tokens ?? [])}`
    return html`<div class="scroll" role="region" aria-label="${name}" tabindex="0">
      <table>
        <thead>
          <tr>
            ${header.map(({ tokens }) => html`<th scope="col">${inline(tokens)}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            ([first, ...cells]) =>
              html`<tr>
                <th scope="row">${inline(first?.tokens ?? [])}</th>
                ${cells.map(({ tokens }) => html`<td>${inline(tokens)}</td>`)}
              </tr>`
          )}
        </tbody>
      </table>
    </div>`
  }

  const list = ({ items, ordered }: Tokens.List): Html => {
    const content = items.map(({ tokens }) => html`<li>${blocks(tokens)}</li>`)
    return ordered
      ? html`<ol>
          ${content}
        </ol>`
      : html`<ul>
          ${content}
        </ul>`
  }

  const block = (given: Token): Part => {
    const token = given as MarkedToken
    if (token.type !== "heading") texts.at(-1)!.push(wordsIn(token))
    switch (token.type) {
      case "heading":
        return heading(token)
      case "paragraph":
        return html`<p>${inline(token.tokens)}</p>`
      case "text":
        return inline(token.tokens ?? [])
      case "code":
        return copyable(token.text)
      case "list":
        return list(token)
      case "table":
        return table(token)
      case "blockquote":
        return html`<div class="notice">${blocks(token.tokens)}</div>`
      case "hr":
        return html`<hr />`
      case "html":
        return html`<p>${token.text}</p>`
      default:
        return undefined
    }
  }

  const blocks = (tokens: ReadonlyArray<Token>): ReadonlyArray<Part> => tokens.map(block)

  const inline = (tokens: ReadonlyArray<Token>): ReadonlyArray<Part> =>
    tokens.map((given): Part => {
      const token = given as MarkedToken
      switch (token.type) {
        case "strong":
          return html`<strong>${inline(token.tokens)}</strong>`
        case "em":
          return html`<em>${inline(token.tokens)}</em>`
        case "codespan":
          return html`<code>${breakable(token.text)}</code>`
        case "br":
          return html`<br />`
        case "link": {
          const to = linkOf(token.href)
          return to === undefined ? inline(token.tokens) : html`<a href="${to}">${inline(token.tokens)}</a>`
        }
        case "checkbox":
          return undefined
        default:
          return "tokens" in token && token.tokens !== undefined
            ? inline(token.tokens)
            : "text" in token
              ? token.text
              : ""
      }
    })

  const tokens = lexer(text)
  const first = tokens.find((token) => token.type === "heading") as Tokens.Heading | undefined
  return {
    title: first === undefined ? "" : plainText(first.tokens),
    body: html`${blocks(tokens)}`,
    headings,
    texts: texts.map((words) => words.join(" "))
  }
}

const plainText = (tokens: ReadonlyArray<Token>): string =>
  tokens
    .map((given) => {
      const token = given as MarkedToken
      if ("tokens" in token && token.tokens !== undefined) return plainText(token.tokens)
      return "text" in token ? token.text : ""
    })
    .join("")

/** Lists repeat the text of their items. */
const wordsIn = (token: MarkedToken): string =>
  token.type === "table" ? token.raw : "text" in token ? token.text : token.type === "list" ? token.raw : ""

/** Makes the same anchors as GitHub, so that links work both within the repository and on the site. */
const slugOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/gu, "-")

/** The Markdown files of the repository that pages show, by their path from its `docs/`. */
export class Documents extends Context.Service<Documents, ReadonlyMap<string, string>>()(
  "agent-tool-billing/adapters/site/Documents"
) {}

// Generated pages as Markdown, for agents. It reads only the markup that this site's templates write.

const TOKEN = /<(\/?)([a-z][a-z0-9]*)((?:\s+[a-z-]+(?:="[^"]*")?)*)\s*\/?>|([^<]+)/gu

interface Node {
  readonly tag: string
  readonly attributes: string
  readonly children: Array<Node | string>
}

const VOID = new Set(["br", "hr", "input", "wbr"])
/** Forms, scripts' places and repeated labels. */
const LEFT_OUT = new Set(["form", "button", "figcaption"])
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" }

export const markdownOf = (page: Html): string =>
  blocks(treeOf(page.markup).children)
    .filter((block) => block !== "")
    .join("\n\n") + "\n"

const treeOf = (markup: string): Node => {
  const root: Node = { tag: "", attributes: "", children: [] }
  const open = [root]
  for (const [, slash, tag, attributes, text] of markup.matchAll(TOKEN)) {
    const parent = open.at(-1)!
    if (tag === undefined)
      parent.children.push(text!.replaceAll(/&([a-z#0-9]+);/gu, (all, name: string) => ENTITIES[name] ?? all))
    else if (slash === "/") open.pop()
    else {
      const node: Node = { tag, attributes: attributes ?? "", children: [] }
      parent.children.push(node)
      if (!VOID.has(tag)) open.push(node)
    }
  }
  return root
}

const textOf = (node: Node | string): string => (typeof node === "string" ? node : node.children.map(textOf).join(""))

const inline = (nodes: ReadonlyArray<Node | string>): string =>
  nodes
    .map((node): string => {
      if (typeof node === "string") return node.replaceAll(/\s+/gu, " ")
      const content = inline(node.children)
      if (node.tag === "code") return `\`${textOf(node)}\``
      if (node.tag === "strong") return `**${content}**`
      const [, href] = /href="([^"]+)"/u.exec(node.attributes) ?? []
      return node.tag === "a" && href !== undefined && !href.startsWith("#") ? `[${content.trim()}](${href})` : content
    })
    .join("")

const line = (nodes: ReadonlyArray<Node | string>): string => inline(nodes).replaceAll(/\s+/gu, " ").trim()

const BLOCK = /^(?:h[1-6]|p|ul|ol|pre|table|section|article|div|figure|details|summary|dl|nav)$/u
const isBlock = (node: Node | string): node is Node => typeof node !== "string" && BLOCK.test(node.tag)

const blocks = (nodes: ReadonlyArray<Node | string>): ReadonlyArray<string> => {
  const found: Array<string> = []
  let loose: Array<Node | string> = []
  const close = () => {
    found.push(line(loose))
    loose = []
  }
  for (const node of nodes) {
    if (typeof node !== "string" && LEFT_OUT.has(node.tag)) continue
    if (!isBlock(node)) loose.push(node)
    else {
      close()
      found.push(...block(node))
    }
  }
  close()
  return found.filter((text) => text !== "")
}

const block = (node: Node): ReadonlyArray<string> => {
  const { children, tag } = node
  if (/^h[1-6]$/u.test(tag)) return [`${"#".repeat(Number(tag[1]))} ${line(children)}`]
  if (tag === "pre") return [`\`\`\`\n${textOf(node).trim()}\n\`\`\``]
  if (tag === "ul" || tag === "ol") return [items(node)]
  if (tag === "table") return table(node)
  if (tag === "p" || tag === "summary") return [line(children)]
  return blocks(children)
}

const items = ({ children, tag }: Node): string =>
  children
    .filter((child): child is Node => typeof child !== "string" && child.tag === "li")
    .map((item, index) => {
      const content = blocks(item.children).join("\n").replaceAll("\n", "\n  ")
      return `${tag === "ol" ? `${index + 1}.` : "-"} ${content}`
    })
    .join("\n")

const descendants = (node: Node, tag: string): ReadonlyArray<Node> =>
  node.children.flatMap((child) =>
    typeof child === "string" ? [] : child.tag === tag ? [child] : descendants(child, tag)
  )

const table = (node: Node): ReadonlyArray<string> => {
  const rows = descendants(node, "tr").map((row) =>
    row.children
      .filter((cell): cell is Node => typeof cell !== "string" && /^t[hd]$/u.test(cell.tag))
      .map(({ children }) => line(children).replaceAll("|", "\\|"))
  )
  const caption = descendants(node, "caption").map(({ children }) => `**${line(children)}**`)
  const [header = [], ...others] = rows
  const written = [header, header.map(() => "---"), ...others].map((cells) => `| ${cells.join(" | ")} |`)
  return [...caption, written.join("\n")]
}
