import type { Plugin } from 'vite'

/** Modules of the client that the page never uses, by the end of their path: what stands in their place, and the word by which it would use them. */
const unused: readonly (readonly [path: string, code: string, word: string])[] = [
  // Answers as data while they are written.
  [
    '/src/protocol/runs/partialOutput.ts',
    'export const partialOutput = undefined\nexport const partialOutputs = undefined',
    'partialOutput',
  ],
  // Calls that a client carries out.
  ['/bridge/src/client/callAnswers.ts', 'export const CallAnswers = undefined', '.onCall('],
]

/** Leaves out of the page's scripts a few modules that every client has: together they are a hundredth of what a first visit loads. */
export const unusedByPage: Plugin = {
  name: 'unused-by-page',
  load: (id) => unused.find(([path]) => id.endsWith(path))?.[1] ?? null,
  transform(code, id) {
    const used = id.includes('/src/inspector/') ? unused.find(([, , word]) => code.includes(word)) : undefined
    if (used !== undefined) this.error(`The page has no ${used[2]}: unusedByPage.ts leaves it out.`)
    return null
  },
}
