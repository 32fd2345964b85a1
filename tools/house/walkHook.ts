import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { parseSync, Visitor } from 'oxc-parser'
import { root } from './sources.ts'

/** Notes each call of a function of `src` or `packages`, as its file, while it is set. */
declare global {
  var walked: string[] | undefined
  var noteCall: (file: string) => void
}

/** The source with a note at the beginning of every function. */
function noted(file: string, text: string): string {
  const notes: { readonly at: number; readonly text: string }[] = []
  const note = `globalThis.noteCall(${JSON.stringify(file)})`
  const body = (node: { readonly type: string; readonly start: number; readonly end: number } | null): void => {
    if (node === null) return
    if (node.type === 'BlockStatement' || node.type === 'FunctionBody')
      notes.push({ at: node.start + 1, text: `;${note};` })
    else notes.push({ at: node.start, text: `(${note},` }, { at: node.end, text: ')' })
  }
  new Visitor({
    FunctionDeclaration: (node) => body(node.body),
    FunctionExpression: (node) => body(node.body),
    ArrowFunctionExpression: (node) => body(node.body),
  }).visit(parseSync(file, text).program)
  let out = text
  for (const { at, text: added } of notes.toSorted((a, b) => b.at - a.at))
    out = out.slice(0, at) + added + out.slice(at)
  return out
}

/** From here on, modules of the project are loaded with a note in each function. */
export function noteCalls(): void {
  globalThis.noteCall = (file) => void globalThis.walked?.push(file)
  registerHooks({
    load(url, context, next) {
      if (!url.startsWith('file:') || !/\/(src|packages)\/.*\.ts$/.test(url) || url.includes('/node_modules/'))
        return next(url, context)
      const path = fileURLToPath(url)
      const file = path.slice(root.length + 1)
      return { format: 'module-typescript', source: noted(file, readFileSync(path, 'utf8')), shortCircuit: true }
    },
  })
}
