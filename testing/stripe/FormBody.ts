/** Stripe's form bodies: `line_items[0][price_data][currency]=usd` is a tree. */
export interface Tree {
  [name: string]: string | Tree
}

export const parseForm = (text: string): Tree => {
  const tree: Tree = {}
  for (const [path, value] of new URLSearchParams(text)) {
    const names = path.split("[").map((name) => name.replace("]", ""))
    let branch = tree
    for (const name of names.slice(0, -1)) {
      const next = branch[name]
      branch = typeof next === "object" ? next : (branch[name] = {})
    }
    branch[names.at(-1)!] = value
  }
  return tree
}
