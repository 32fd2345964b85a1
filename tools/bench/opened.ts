/**
 * Measures the extra cost of opening an agent for each prompt instead of keeping it, on the same store, in CPU-ms per turn; writing its checkpoints
 * as it is let go of is part of it. A prompt of an agent in memory and one of an agent that is opened take turns, so that a busy machine slows both.
 * Everything runs in one process, without an engine. The mean has compactions and collected garbage in it, the median has not.
 *
 *   node tools/bench/opened.ts [--store memory|file|sqlite|postgres] [--history 10000] [--window 32000] [--cycles 300]
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
    cycles: { type: 'string', default: '300' },
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
const spent = async (work: () => Promise<unknown>): Promise<number> => {
  const before = cpuMs()
  await work()
  return cpuMs() - before
}
const figures = (all: readonly number[]): string => {
  const sorted = all.toSorted((a, b) => a - b)
  const at = (share: number): string => sorted[Math.floor(all.length * share)]!.toFixed(2)
  const mean = all.reduce((sum, one) => sum + one, 0) / all.length
  return `mean ${mean.toFixed(2)}, median ${at(0.5)}, least tenth below ${at(0.1)}`
}

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
  const warm = await runtime.open('warm', definition)
  const parts = { warm: [] as number[], open: [] as number[], prompt: [] as number[], detach: [] as number[] }
  const over: number[] = []
  const cycles = Number(values.cycles)
  for (let cycle = 0; cycle < 2 * cycles; cycle += 1) {
    const inMemory = await spent(() => warm.prompt('go').result)
    const opening = await spent(() => runtime.open('opened', definition))
    const prompt = await spent(() => runtime.agent('opened')!.prompt('go').result)
    const detach = await spent(() => runtime.detach('opened'))
    // By then most of it is compiled.
    if (cycle < cycles) continue
    parts.warm.push(inMemory)
    parts.open.push(opening)
    parts.prompt.push(prompt)
    parts.detach.push(detach)
    over.push((opening + prompt + detach - inMemory) / 2)
  }
  for (const [part, all] of Object.entries(parts)) console.log(`${part}: ${figures(all)} CPU-ms`)
  console.log(
    `${values.store} ${values.history} in a window of ${values.window}: over warm, CPU-ms a turn: ${figures(over)}`,
  )
  await runtime.close()
  await store.close()
} finally {
  await database?.remove()
  await rm(folder, { recursive: true, force: true })
}
