/**
 * Generated pages as Markdown, for agents. It reads only the markup that this site's templates write.
 */
import type { Html } from "../kit/Html.ts"

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
