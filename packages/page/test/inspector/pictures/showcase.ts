import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { defineAgent } from '../../../../define/src/defineAgent.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { defineCoder } from '../../../../cli/src/sessions/openSession.ts'
import { embeddedSorter, sorterSetting } from '../../../../cli/src/demo/sorter.ts'
import { openWorkshop } from '../../../../cli/src/demo/workshop.ts'
import { checkFile, checkProgram, sortTask } from '../../../../demo/src/sortTask.ts'
import type { Serving } from '../../../../bridge/test/server/bridgeHarness.ts'
import type { CaseContext } from '../../../../../test/support/suite.ts'
import { calls, held, paced, pricing } from '../console/sceneModel.ts'
import { serveInspector } from '../inspectorHarness.ts'
import { release } from './release.ts'

const shared = { pricing, captureTurnRequests: true } as const

const refund = defineTool({
  name: 'refund',
  description: 'Pays money back to the customer of an order.',
  input: z.object({ order: z.string(), eur: z.number(), reason: z.string() }),
  effects: 'idempotent',
  needsApproval: ({ eur }) => eur > 50,
  run: ({ order, eur }) => `Paid ${eur} EUR back for ${order}.`,
})
const findOrder = defineTool({
  name: 'find_order',
  description: 'Finds an order.',
  input: z.object({ order: z.string() }),
  effects: 'none',
  run: ({ order }) => `${order}: espresso machine, 129.90 EUR, delivered on 3 March, paid by card.`,
})
const desk = defineAgent({
  ...shared,
  name: 'desk',
  description: 'Answers customers.',
  tools: [findOrder, refund],
  model: paced(held, ({ task, done }) => {
    const order = /[A-Z]-\d+/.exec(task)?.[0] ?? 'A-17'
    if (done === 0) return calls('I look the order up.', { name: 'find_order', input: { order } })
    const input = { order, eur: 129.9, reason: 'Arrived broken; the customer sent a picture of the cracked tank.' }
    return done === 1 ? calls('It is within the 14 days, so I pay it back.', { name: 'refund', input }) : 'Done.'
  }),
})

const readPage = defineTool({
  name: 'read_page',
  description: 'Reads a page of the minutes.',
  input: z.object({ page: z.number() }),
  effects: 'none',
  run: ({ page }) => `Page ${page}: ${`the board of year ${1950 + page} decided on the harbour; `.repeat(130)}`,
})
/** Reads more than its window holds, and folds what is old. */
const archivist = defineAgent({
  ...shared,
  name: 'archivist',
  description: 'Reads the minutes.',
  tools: [readPage],
  compaction: { contextWindow: 40_000 },
  braking: { fold: true },
  model: paced(held, ({ turnIndex }) =>
    turnIndex < 48
      ? calls(`On to page ${turnIndex + 1}.`, { name: 'read_page', input: { page: turnIndex + 1 } })
      : 'The harbour was voted on eleven times; the quay of 1974 was the only vote that was not unanimous.',
  ),
})

const summariser = defineAgent({
  ...shared,
  name: 'summariser',
  description: 'Summarises.',
  retry: { attempts: 1 },
  model: paced(held, () => {
    throw Object.assign(new Error('The key was revoked.'), { statusCode: 401 })
  }),
})

const runTests = defineTool({
  name: 'run_tests',
  description: 'Runs the tests.',
  input: z.object({}),
  run: () => {
    throw new Error('exit code 1\n1 of 218 tests failed: scheduler › keeps the order of equal dates')
  },
})
/** Does the same again and again, and is paused. */
const fixer = defineAgent({
  ...shared,
  name: 'fixer',
  description: 'Repairs tests.',
  tools: [runTests],
  braking: { revert: true, stall: true },
  model: paced(held, () => calls('Perhaps now.', { name: 'run_tests', input: {} })),
})

const watch = defineTool({
  name: 'watch_queue',
  description: 'Watches a queue.',
  input: z.object({ queue: z.string() }),
  effects: 'none',
  run: async (_, { signal }) => {
    await held.work(signal)
    return 'empty'
  },
})
const watcher = defineAgent({
  ...shared,
  name: 'watcher',
  description: 'Watches queues.',
  tools: [watch],
  limits: { turns: 50 },
  model: paced(held, ({ task }) =>
    calls('I watch it.', { name: 'watch_queue', input: { queue: task.split(' ').at(-1)! } }),
  ),
})

const planner = defineAgent({
  ...shared,
  name: 'planner',
  description: 'Writes plans.',
  model: paced(held, () => plan),
})

const plan = `## Moving the sessions

1. Write to **both** stores for a week
2. Compare them every night with \`npm run compare\`
3. Read from the new one

| step | takes | can be taken back |
| --- | ---: | --- |
| write to both | 7 days | yes |
| compare | 20 min | yes |
| read from the new | 1 min | yes, until the old one is deleted |`

/** Serves agents of which each has something to show; resolves once all stand as they stay. */
export async function serveShowcase(context: Pick<CaseContext, 'cleanup'>): Promise<Serving> {
  const workshop = openWorkshop({ [checkFile]: checkProgram })
  context.cleanup(() => rm(dirname(workshop.dir), { recursive: true }))
  const sorter = defineCoder({
    ...workshop,
    ...sorterSetting(false),
    choice: embeddedSorter(false),
    name: 'sorter',
  })
  const team = release()
  const definitions = [sorter, desk, archivist, summariser, fixer, watcher, planner, ...team.definitions]
  const serving = await serveInspector(context, definitions)
  const begin = async (definition: (typeof definitions)[number], id: string, prompt: string): Promise<void> => {
    const agent = await serving.runtime.spawn(definition, { id })
    const isBusy = Promise.withResolvers<void>()
    agent.subscribe((event) => definition === watcher && event.type === 'tool.start' && isBusy.resolve())
    void agent.prompt(prompt).result.catch(() => {})
    await Promise.race([isBusy.promise, agent.settled()])
  }
  await Promise.all([
    begin(planner, 'planner-1', 'Write the plan for moving the sessions.'),
    begin(archivist, 'archivist-1', 'When did the board vote on the harbour?'),
    begin(sorter, 'sorter-1', sortTask(4_000)),
    begin(watcher, 'watcher-1', 'Tell me when nothing waits any more in payments'),
  ])
  await Promise.all([
    begin(fixer, 'fixer-1', 'Fix the failing test of the scheduler.'),
    begin(summariser, 'summariser-q2', 'Summarise the second quarter for the board.'),
    begin(summariser, 'summariser-q3', 'Summarise the third quarter for the board.'),
    team.begin(serving.runtime),
  ])
  await begin(desk, 'order-A-17', 'Order A-17 arrived broken. I want my money back.')
  return serving
}
