import type { PartLines } from './describing.ts'
import type { memoryRecords } from '../../../../src/protocol/parts/memory/memoryRecords.ts'

export const memoryLines: PartLines<typeof memoryRecords> = {
  'memory.extracted': {
    group: 'request',
    line: ({ kept, problem, usage, costUsd }, { counted, short, asking }) =>
      [
        `${counted(kept.length, 'record')} kept`,
        ...kept.map(({ text }) => short(text)),
        ...(problem === undefined ? [] : [problem]),
        ...(usage === undefined ? [] : [asking(usage, costUsd)]),
      ].join(' · '),
    terminal: ({ kept }, { short }) =>
      kept.map(({ text, tainted }) => ({
        text: `⇢ remembered${tainted ? ', unconfirmed' : ''}: ${short(text)}`,
        tone: 'dim',
      })),
    note: ({ kept, problem, costUsd }, { dollars }) => {
      const cost = costUsd === 0 ? '' : `, ${dollars(costUsd)}`
      const text = `${kept.length} ${kept.length === 1 ? 'memory' : 'memories'} drawn from what left its sight${cost}`
      const lines = kept.map((one) => `${one.kind} (${one.scope})${one.tainted ? ', unconfirmed' : ''}: ${one.text}`)
      return {
        heading: 'Memory',
        text: problem === undefined ? text : `${text}: ${problem}`,
        lines,
        ...(problem === undefined ? {} : { tone: 'bad' }),
      }
    },
  },
}
