import type { Plugin } from 'vite'

const isTable = (id: string): boolean => id.endsWith('/src/protocol/errors.ts')

/** An entry of the table of errors: its code, and the quotes around its advice. */
const entry = /^[ \t]+([A-Z_]+):\s+(["']).*\2,?$/gm

/** Code that reads the error table, and its replacement in the page: any code of the server, of the same version, is in the table. */
const asking = [
  ['Object.hasOwn(errorTable, code)', '/^[A-Z_]+$/.test(code)'],
  ['${errorTable[code]}', '${errorTable[code] ?? ""}'],
] as const

/**
 * Removes from the page's scripts the errors that the page never makes itself. They come from the server, whose
 * message has the advice. They are a twentieth of what a first visit loads.
 */
export const ownAdvice: Plugin = {
  name: 'own-advice',
  renderChunk(code, { moduleIds }) {
    if (!moduleIds.some(isTable)) return
    const others = [...this.getModuleIds()].filter((id) => !isTable(id))
    const named = others.map((id) => this.getModuleInfo(id)?.code ?? '').join('\n')
    const own = code.replace(entry, (whole: string, name: string) =>
      new RegExp(`["']${name}["']`).test(named) ? whole : '',
    )
    return asking.reduce((text, [from, to]) => {
      if (!text.includes(from)) this.error(`errors.ts asks its table otherwise than by ${from}.`)
      return text.replaceAll(from, to)
    }, own)
  },
}
