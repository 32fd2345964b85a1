/**
 * Measures the extra cost of opening an agent for each prompt instead of keeping it, on the same store, in CPU-ms per turn. Everything runs
 * in one process, without an engine.
 *
 *   node tools/bench/opened.ts [--store memory|file|sqlite|postgres] [--history 10000] [--window 32000] [--prompts 26] [--rounds 3]
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { createRuntime, defineAgent, defineTool, fileStore, memoryStore, policyModel } from '../../src/index.ts'
import type { Store } from '../../src/index.ts'
import { postgresStore } from '../../src/postgres.ts'
import { sqliteStore } from '../../src/sqlite.ts'
import { PostgresServer } from '../../packages/postgres/test/server.ts'

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite' },
    history: { type: 'string', default: '10000' },
    window: { type: 'string', default: '32000' },
    prompts: { type: 'string', default: '26' },
    rounds: { type: 'string', default: '3' },
  },
})

const words = Array.from({ length: 2_000 }, (_, at) => ((at * 7_919) % 99_991).toString(36))
let said = 0
/** Some 200 characters that do not repeat. */
const text = (): string =>
  Array.from({ length: 45 }, () => words[(said = (said * 1_103_515_245 + 12_345) % 2_147_483_648) % words.length]).join(
    ' ',
  )

const tool = (name: string, effects: 'idempotent' | 'irreversible') =>
  defineTool({
    name,
    description: 'Notes a number.',
    input: z.object({ n: z.number() }),
    effects,
    run: ({ n }) => `noted ${n}: ${text()}`,
  })

/** Unknown: what a request has is not counted again for each of them. */
const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

const definition = defineAgent({
  name: 'bench',
  model: policyModel(({ messages }) =>
    messages.at(-1)?.role === 'toolResult'
      ? { text: text(), usage }
      : {
          usage,
          toolCalls: [
            { name: 'note', input: { n: 1 } },
            { name: 'send', input: { n: 2 } },
          ],
        },
  ),
  tools: [tool('note', 'idempotent'), tool('send', 'irreversible')],
  compaction: { contextWindow: Number(values.window) },
})

const folder = await mkdtemp(join(tmpdir(), 'opened-'))
const database = values.store === 'postgres' ? await PostgresServer.start() : undefined
const url = database && database.url(await database.newDatabase())
const newStore = (): Store => {
  if (values.store === 'memory') return memoryStore()
  if (values.store === 'file') return fileStore(join(folder, 'logs'))
  if (url !== undefined) return postgresStore(url)
  return sqliteStore(join(folder, 'logs.db'))
}
const cpuMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
const median = (all: readonly number[]): number => all.toSorted((a, b) => a - b)[all.length >> 1]!

try {
  const store = newStore()
  const runtime = await createRuntime({ store })
  for (const id of ['warm', 'opened']) {
    const agent = await runtime.spawn(definition, { id })
    while (agent.lastSeq < Number(values.history)) await agent.prompt('go').result
    const view = agent.conversation
    console.log(id, agent.lastSeq, 'trunk', view.trunk().length, 'tokens', view.tokens)
    await runtime.detach(id)
  }
  const checkpoint = await store.checkpoints?.read('opened')
  console.log('checkpoint', checkpoint?.seq, 'bytes', checkpoint?.body.length)
  const prompts = Number(values.prompts)
  const over: number[] = []
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    const agent = await runtime.open('warm', definition)
    await agent.prompt('go').result
    let before = cpuMs()
    for (let at = 0; at < prompts; at += 1) await agent.prompt('go').result
    const warm = (cpuMs() - before) / prompts / 2
    await runtime.detach('warm')
    before = cpuMs()
    for (let at = 0; at < prompts; at += 1) {
      const opened = await runtime.open('opened', definition)
      await opened.prompt('go').result
      await runtime.detach('opened')
    }
    const cold = (cpuMs() - before) / prompts / 2
    before = cpuMs()
    for (let at = 0; at < prompts; at += 1) {
      await runtime.open('opened', definition)
      await runtime.detach('opened')
    }
    const alone = (cpuMs() - before) / prompts
    console.log(
      `round ${round}: warm ${warm.toFixed(2)} opened ${cold.toFixed(2)} over ${(cold - warm).toFixed(2)} CPU-ms a turn; an opening without a prompt ${alone.toFixed(2)}`,
    )
    if (round > 0) over.push(cold - warm)
  }
  console.log(
    `${values.store} ${values.history} in a window of ${values.window}: over it ${median(over).toFixed(2)} CPU-ms a turn`,
  )
  await runtime.close()
  await store.close()
} finally {
  await database?.remove()
  await rm(folder, { recursive: true, force: true })
}
