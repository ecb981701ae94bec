/**
 * Parses a page as strictly as XML: what a lenient browser would repair is a fault here.
 */
export interface Element {
  readonly tag: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: ReadonlyArray<Element | string>
}

const VOID = new Set(["meta", "link", "wbr", "br", "img", "hr", "input"])
const TOKEN = /<!doctype html>|<(\/?)([a-z][a-z0-9]*)((?:\s+[a-z-]+(?:="[^"<]*")?)*)\s*(\/?)>|([^<]+)/gu

/** Throws at the first fault. */
export const parseHtml = (markup: string): Element => {
  const root = { tag: "#root", attributes: {}, children: [] as Array<Element | string> }
  const open = [root]
  let end = 0
  for (const match of markup.matchAll(TOKEN)) {
    if (match.index !== end) throw new Error(`unreadable at ${end}: ${markup.slice(end, end + 60)}`)
    end += match[0].length
    const [, slash, tag, attributes, isEmpty, text] = match
    const parent = open.at(-1)!
    if (text !== undefined) parent.children.push(parent.tag === "style" ? text : unescape(text))
    else if (tag !== undefined && slash === "/") {
      if (parent.tag !== tag) throw new Error(`</${tag}> closes <${parent.tag}> at ${end}`)
      open.pop()
    } else if (tag !== undefined) {
      if (isEmpty === "/" && !VOID.has(tag)) throw new Error(`<${tag}/> is not empty in HTML, at ${end}`)
      const element = { tag, attributes: attributesOf(attributes ?? ""), children: [] as Array<Element | string> }
      parent.children.push(element)
      if (!VOID.has(tag)) open.push(element)
    }
  }
  if (end !== markup.length) throw new Error(`unreadable at ${end}: ${markup.slice(end, end + 60)}`)
  if (open.length > 1) throw new Error(`<${open.at(-1)!.tag}> is never closed`)
  return root
}

export const elementsOf = (element: Element): ReadonlyArray<Element> => [
  element,
  ...element.children.flatMap((child) => (typeof child === "string" ? [] : elementsOf(child)))
]

export const textOf = (element: Element): string =>
  element.children.map((child) => (typeof child === "string" ? child : textOf(child))).join("")

/** As a reader sees it: consecutive white space is one space. */
export const wordsOf = (element: Element): string => textOf(element).replace(/\s+/gu, " ").trim()

const attributesOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/([a-z-]+)(?:="([^"]*)")?/gu)].map(([, name, value]) => [name!, unescape(value ?? "")])
  )

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" }

const unescape = (text: string): string =>
  text.replace(/&([^;\s]*;?)/gu, (whole, name: string) => {
    const char = ENTITIES[name.replace(/;$/u, "")]
    if (char === undefined || !name.endsWith(";")) throw new Error(`a bare & or an unknown entity: ${whole}`)
    return char
  })

/** WCAG 2 contrast of two colors written as #rrggbb. */
export const contrast = (a: string, b: string): number => {
  const [light, dark] = [luminance(a), luminance(b)].toSorted((x, y) => y - x)
  return (light! + 0.05) / (dark! + 0.05)
}

const luminance = (hex: string): number => {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const channel = parseInt(hex.slice(at, at + 2), 16) / 255
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
}
