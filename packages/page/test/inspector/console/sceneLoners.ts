import { z } from 'zod'
import { defineAgent } from '../../../../define/src/defineAgent.ts'
import { decide } from '../../../../policies/src/decide.ts'
import { policy } from '../../../../../src/actors/define/policy.ts'
import { when } from '../../../../policies/src/when.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { workspaceTools } from '../../../../tools/src/workspace/workspaceTools.ts'
import { markdownMemory } from '../../../../../src/memory.ts'
import { scriptedSource } from '../../../../../test/support/scriptedSource.ts'
import { calls, paced, pricing, type Pace } from './sceneModel.ts'

/** Agents that work alone, each for something that a page has to show. `folder`: where they may write. */
export function loners(pace: Pace, folder: string, summary: { isBroken: boolean }) {
  const dig = defineTool({
    name: 'dig',
    description: 'Digs.',
    input: z.object({ depth: z.number() }),
    run: ({ depth }) => {
      if (depth % 3 === 0) throw new Error(`There is rock ${depth} metres down.`)
      return `Nothing ${depth} metres down.`
    },
  })
  const shelf = defineTool({
    name: 'read_shelf',
    description: 'Reads a shelf.',
    input: z.object({ number: z.number() }),
    effects: 'none',
    run: ({ number }) => `Shelf ${number} holds: ${`papers of year ${1900 + number}; `.repeat(40)}`,
  })
  const tickets = scriptedSource('tickets', [
    defineTool({
      name: 'tickets_list',
      description: 'Lists tickets.',
      input: z.object({}),
      run: () => 'ticket\n'.repeat(2_000),
    }),
  ])
  tickets.says('Tickets are numbered T-1, T-2 and so on.')
  const weather = scriptedSource('weather', [
    defineTool({ name: 'forecast', description: 'Tells.', input: z.object({}), run: () => 'rain' }),
  ])

  const digger = defineAgent({
    name: 'digger',
    description: 'Looks for gold.',
    pricing,
    tools: [dig],
    braking: { revert: true, graft: true, prune: true },
    captureTurnRequests: true,
    model: paced(pace, ({ all }) => {
      if (all.includes('<brake-note')) return 'There is no gold here. The map was upside down.'
      const depth = all.split('"toolResult"').length + all.split('metres down').length
      const made = Math.floor(depth / 2)
      if (made < 20)
        return {
          ...(calls(`Deeper: ${made}.`, { name: 'dig', input: { depth: made } }) as object),
          thinking: 'Is the map right?',
        }
      const input = {
        category: 'failure',
        step: 'n1',
        summary: 'Digging below the oak finds nothing: the map is upside down.',
      }
      return calls('I start over.', { name: 'revert_to_state', input })
    }),
  })
  const archivist = defineAgent({
    name: 'archivist',
    description: 'Reads shelves.',
    pricing,
    tools: [shelf],
    braking: {
      fold: { work: 300, minBatch: 300, keepSteps: 2, indexTokens: 200, cap: 2_500, leastRequests: 0 },
      policies: [policy({ name: 'tidy', when: when.onRequest(), decide: decide.oldest({ downTo: 1_000 }) })],
    },
    captureTurnRequests: true,
    model: paced(pace, ({ turnIndex }) =>
      turnIndex < 14
        ? calls(`Shelf ${turnIndex}.`, { name: 'read_shelf', input: { number: turnIndex } })
        : 'I have read them all.',
    ),
  })
  const librarian = defineAgent({
    name: 'librarian',
    description: 'Reads shelves, and forgets.',
    pricing,
    tools: [shelf],
    compaction: { contextWindow: 6_000 },
    model: paced(pace, ({ turnIndex }) =>
      turnIndex < 24
        ? calls('The next.', { name: 'read_shelf', input: { number: turnIndex } })
        : 'I have read them all.',
    ),
  })
  const clerk = defineAgent({
    name: 'clerk',
    description: 'Answers tickets.',
    pricing,
    tools: [tickets, weather],
    artifacts: { overChars: 1_000 },
    memory: { store: markdownMemory(`${folder}/memory`), user: () => 'ada' },
    model: paced(pace, ({ done }) => {
      if (done === 0)
        return calls('I note it.', { name: 'remember', input: { text: 'Ada wants her notes on Mondays.' } })
      return done === 1 ? calls('And read the tickets.', { name: 'tickets_list', input: {} }) : 'They are all alike.'
    }),
  })
  const summariser = defineAgent({
    name: 'summariser',
    description: 'Summarises.',
    pricing,
    retry: { attempts: 1 },
    model: paced(pace, () => {
      if (summary.isBroken) throw Object.assign(new Error('The key of the provider was refused.'), { statusCode: 401 })
      return 'Here is the summary.'
    }),
  })
  const looper = defineAgent({
    name: 'looper',
    description: 'Goes on.',
    pricing,
    limits: { turns: 3 },
    tools: [dig],
    model: paced(pace, ({ done }) => calls('Once more.', { name: 'dig', input: { depth: done + 1 } })),
  })
  const editor = defineAgent({
    name: 'editor',
    description: 'Writes files.',
    pricing,
    tools: workspaceTools(`${folder}/files`, { snapshots: true }),
    braking: { revert: { undo: true } },
    model: paced(pace, ({ done }) =>
      done === 0
        ? calls('I write it.', { name: 'write_file', input: { path: 'prices.txt', content: 'pear 2\nplum 3\n' } })
        : 'It is written.',
    ),
  })
  const writer = defineAgent({
    name: 'writer',
    description: 'Writes reports.',
    pricing,
    model: paced(pace, ({ task }) => `${report}\n\nAsked for: ${task}`),
  })
  const worker = defineAgent({
    name: 'worker',
    description: 'Does small things.',
    pricing,
    model: paced({ ...pace, wordMs: 0 }, () => 'Done.'),
  })
  return { digger, archivist, librarian, clerk, summariser, looper, editor, writer, worker, weather }
}

const report = `# The week

Two things were **done**, and one was *not*:

1. The cache lasts
2. The tests pass, see \`npm test\`

| animal | sleep |
| --- | ---: |
| okapi | 5 min |
| bat | 20 h |

\`\`\`ts
export const ttl = (hours: number): number => hours * 3600
\`\`\`

> Nothing else happened.`
