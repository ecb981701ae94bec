#!/usr/bin/env node
/**
 * Starts the command line. Imports inside this program and inside Effect name existing files of known formats. Looking
 * for each file and for its package.json, as Node does, takes a seventh of a start from source.
 */
import { registerHooks } from "node:module"

const isTyped = import.meta.url.endsWith(".ts")
const ownFiles = new URL("..", import.meta.url).href

const MODULES_OF_EFFECT = /\/node_modules\/(?:effect|@effect\/[\w-]+)\/dist\//u

const formatOf = (specifier: string, parent: string): "module" | "module-typescript" | undefined => {
  if (!specifier.startsWith(".") || parent.includes("?")) return undefined
  if (specifier.endsWith(".js") && MODULES_OF_EFFECT.test(parent)) return "module"
  const isOwn = isTyped && parent.startsWith(ownFiles) && !parent.includes("/node_modules/")
  return isOwn && specifier.endsWith(".ts") ? "module-typescript" : undefined
}

registerHooks({
  resolve(specifier, context, next) {
    const parent = context.parentURL
    const format = parent === undefined ? undefined : formatOf(specifier, parent)
    if (format === undefined) return next(specifier, context)
    return { url: new URL(specifier, parent).href, format, shortCircuit: true }
  }
})

// The bundler keeps what is called, and leaves out the side effects of modules.
const { run } = await import("./CommandLine.ts")
run()
