import type { PartWords } from './describing.ts'
import type { memoryRecords } from '../../../../src/protocol/parts/memory/memoryRecords.ts'

export const memoryWords: PartWords<typeof memoryRecords> = {
  'memory.extracted': {
    log: ({ kept, problem, usage, costUsd }) => ({
      level: problem === undefined ? 'info' : 'warn',
      message: 'what is worth knowing was drawn from what it left behind',
      fields: { kept: kept.map(({ id }) => id), usage, costUsd },
    }),
    attributes: ({ kept, problem, costUsd }, hasContent) => ({
      'escapement.memory.kept': kept.length,
      'escapement.cost_usd': costUsd,
      ...(hasContent ? { 'escapement.memory.problem': problem } : {}),
    }),
  },
}
