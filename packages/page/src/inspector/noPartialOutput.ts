import type { Plugin } from 'vite'

/**
 * Leaves out of the page's scripts how a run gives an answer as data while it is written: every run has it, and the page never asks for
 * it. It is a hundredth of what a first visit loads.
 */
export const noPartialOutput: Plugin = {
  name: 'no-partial-output',
  load(id) {
    return id.endsWith('/src/protocol/runs/partialOutput.ts')
      ? 'export const partialOutput = undefined\nexport const partialOutputs = undefined'
      : null
  },
  transform(code, id) {
    if (id.includes('/src/inspector/') && code.includes('partialOutput'))
      this.error('The page has no partialOutput: noPartialOutput.ts leaves it out.')
    return null
  },
}
