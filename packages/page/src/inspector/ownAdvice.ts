import type { Plugin } from 'vite'

const isTable = (id: string): boolean => id.endsWith('/src/protocol/errors.ts')

/** An entry of the table of errors: its code, and the quotes around its advice. */
const entry = /^([ \t]+([A-Z_]+):\s+)(["']).*\3(?=,?$)/gm

/**
 * Leaves the advice of errors that the page never makes itself out of its scripts: those come from the server, whose message has it.
 * It is a thirtieth of what a first visit loads.
 */
export const ownAdvice: Plugin = {
  name: 'own-advice',
  renderChunk(code, { moduleIds }) {
    if (!moduleIds.some(isTable)) return
    const others = [...this.getModuleIds()].filter((id) => !isTable(id))
    const named = others.map((id) => this.getModuleInfo(id)?.code ?? '').join('\n')
    return code.replace(entry, (whole: string, key: string, name: string) =>
      new RegExp(`["']${name}["']`).test(named) ? whole : `${key}""`,
    )
  },
}
