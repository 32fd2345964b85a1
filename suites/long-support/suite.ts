import { defineAgent } from '../../src/index.ts'
import { defineSuite } from '../../src/testing.ts'
import { scoreState } from './stateScorer.ts'
import { supportModel, windowTokens } from './supportModel.ts'
import { supportTools } from './tools.ts'

// oxlint-disable-next-line import/no-default-export -- Suites are read so.
export default defineSuite({
  agent: ({ dir, model }) =>
    defineAgent({
      name: 'supportDesk',
      model,
      instructions:
        'You are the support desk of a shop for clocks, and write with one customer. Today is 20 March 2026. Read the policy before you do anything: it is binding. Answer in one or two sentences.',
      tools: [...supportTools(dir)],
      compaction: { contextWindow: windowTokens },
    }),
  // Folds as an agent with a window of that size would.
  arms: { fold: { braking: { fold: { cap: 0.6 * windowTokens } } } },
  models: { embedded: ({ task, seed }) => supportModel(task, seed) },
  scorers: { state: ({ dir, options }) => scoreState(dir, options) },
})
