/**
 * Agents in trees and in great numbers: what a sub-agent of one turn costs, beside the same agents as plain roots and beside a
 * hand-written loop; what a nesting level costs; how fast roots are spawned; what an idle agent costs in memory once it is
 * unloaded, and how long it takes to wake. Ratios are ours / theirs: 1 is as fast.
 *
 *   node --expose-gc tools/bench/tree.ts [--agents 100000] [--woken 2000] [--only calls|nesting|spawn|idle]
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import {
  type Agent,
  type AgentDefinition,
  createRuntime,
  defineAgent,
  fileStore,
  policyModel,
} from '../../src/index.ts'
import type { Block, Model, ModelRequest } from '../../src/index.ts'
import { simulatedClock } from '../../src/testing.ts'
import { floorLoop } from './floor.ts'
import { format, median, now, paired } from './measure.ts'
import { benchModel, donePart } from './workload.ts'

const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: '100000' },
    woken: { type: 'string', default: '2000' },
    only: { type: 'string' },
  },
})

const parts = { calls: subAgentCalls, nesting, spawn: spawnRate, idle: idleAgents }
for (const [name, run] of Object.entries(parts)) if (values.only === undefined || values.only === name) await run()

/** Calls `name` so many times in its first turn, then says it is done. */
function caller(name: string, count: number): Model {
  const calls = Array.from({ length: count }, (_, index): Block => ({
    type: 'toolCall',
    callId: `call_${index}`,
    name,
    input: { task: 'go' },
  }))
  return {
    id: 'bench:caller',
    async *stream(_request: ModelRequest, options: { signal: AbortSignal; turnIndex?: number }) {
      const isFirst = (options.turnIndex ?? 0) === 0
      const last = donePart({ turns: 1, deltas: 5 }, 0)
      if (last.type !== 'done' || !isFirst) yield last
      else yield { type: 'done', reply: { ...last.reply, content: calls, stopReason: 'toolUse' } }
    },
  }
}

async function subAgentCalls(): Promise<void> {
  const count = 100
  const rounds = 20
  const worker = defineAgent({ name: 'worker', model: benchModel({ turns: 1, deltas: 5 }) })
  const boss = defineAgent({ name: 'boss', model: caller('worker', count), agents: [worker], maxChildren: count })
  const asTree = async (): Promise<void> => {
    const runtime = await createRuntime()
    for (let round = 0; round < rounds; round += 1) {
      const agent = await runtime.spawn(boss)
      verify((await agent.prompt('go').result).turns === 2)
      verify(agent.conversation.log().length === count + 3)
      await agent.close()
    }
    await runtime.close()
  }
  const asRoots = async (): Promise<void> => {
    const runtime = await createRuntime()
    for (let round = 0; round < rounds; round += 1) {
      const agents = await Promise.all(Array.from({ length: count }, () => runtime.spawn(worker)))
      const results = await Promise.all(agents.map((agent) => agent.prompt('go').result))
      verify(results.every(({ turns }) => turns === 1))
      await Promise.all(agents.map((agent) => agent.close()))
    }
    await runtime.close()
  }
  const asLoop = async (): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) {
      const turns = await Promise.all(Array.from({ length: count }, () => floorLoop(worker.model, {}, 'go', () => {})))
      verify(turns.every((each) => each === 1))
    }
  }
  const each = rounds * count
  const roots = await paired(asTree, asRoots, 7)
  const loop = await paired(asTree, asLoop, 7)
  console.log(
    `${count} sub-agents in one turn: ours ${format(loop.ours / each)} µs a sub-agent, the same as plain roots ${format(roots.floor / each)} µs (ratio ${format(roots.ratio, 2)}), loop ${format(loop.floor / each)} µs (ratio ${format(loop.ratio, 2)})`,
  )
}

async function nesting(): Promise<void> {
  const depths = [1, 5, 10, 20]
  const times = 20
  const perRun: { ours: number; floor: number }[] = []
  for (const depth of depths) {
    const root = nest(depth)
    const pair = await paired(
      async () => {
        const runtime = await createRuntime()
        for (let time = 0; time < times; time += 1) {
          const agent = await runtime.spawn(root)
          verify((await agent.prompt('go').result).turns === 2)
          await agent.close()
        }
        await runtime.close()
      },
      async () => {
        for (let time = 0; time < times; time += 1) verify((await nestedLoop(depth)) === depth + 1)
      },
      7,
    )
    perRun.push({ ours: pair.ours / times, floor: pair.floor / times })
    console.log(
      `${format(depth)} levels below the root: ours ${format(pair.ours / times)} µs, loop ${format(pair.floor / times)} µs, ratio ${format(pair.ratio, 2)}`,
    )
  }
  const [first, last] = [perRun[0]!, perRun.at(-1)!]
  const levels = depths.at(-1)! - depths[0]!
  console.log(
    `a nesting level: ours ${format((last.ours - first.ours) / levels)} µs, loop ${format((last.floor - first.floor) / levels)} µs`,
  )
}

/** An agent that calls one below it, which calls one below it, so deep. */
function nest(depth: number): AgentDefinition {
  let definition = defineAgent({ name: 'level0', model: benchModel({ turns: 1, deltas: 5 }) })
  for (let level = 1; level <= depth; level += 1)
    definition = defineAgent({
      name: `level${level}`,
      model: caller(definition.name, 1),
      agents: [definition],
      maxDepth: depth,
    })
  return definition
}

/** Loops inside one another; gives how many there were. */
async function nestedLoop(depth: number): Promise<number> {
  if (depth === 0) {
    await floorLoop(benchModel({ turns: 1, deltas: 5 }), {}, 'go', () => {})
    return 1
  }
  let below = 0
  const call = async (): Promise<string> => {
    below = await nestedLoop(depth - 1)
    return 'done'
  }
  await floorLoop(caller('below', 1), { below: call }, 'go', () => {})
  return below + 1
}

async function spawnRate(): Promise<void> {
  const count = 10_000
  const definition = defineAgent({ name: 'bench', model: policyModel(() => 'fine') })
  const pair = await paired(
    async () => {
      const runtime = await createRuntime()
      for (let n = 0; n < count; n += 1) await runtime.spawn(definition)
      verify(runtime.agents().length === count)
      await runtime.close()
    },
    async () => {
      const agents = new Map<string, { messages: unknown[]; controller: AbortController }>()
      for (let n = 0; n < count; n += 1)
        await Promise.resolve(agents.set(`bench-${n}`, { messages: [], controller: new AbortController() }))
      verify(agents.size === count)
    },
    5,
  )
  console.log(
    `spawn and close of a root: ours ${format(pair.ours / count)} µs (${format((count * 1e6) / pair.ours, 0)} a second), a map of hand-made agents ${format(pair.floor / count, 2)} µs, ratio ${format(pair.ratio, 0)}`,
  )
}

async function idleAgents(): Promise<void> {
  if (globalThis.gc === undefined) return console.log('memory of idle agents: run with node --expose-gc')
  const [count, woken] = [Number(values.agents), Number(values.woken)]
  const idleUnloadMs = 60_000
  const dir = await mkdtemp(join(tmpdir(), 'escapement-bench-'))
  const clock = simulatedClock()
  const runtime = await createRuntime({ store: fileStore(dir), clock, idleUnloadMs })
  const definition = defineAgent({ name: 'bench', model: policyModel(() => 'fine') })
  const agents: Agent[] = []
  const spawn = async (many: number): Promise<void> => {
    const batch = await Promise.all(Array.from({ length: many }, () => runtime.spawn(definition)))
    await Promise.all(batch.map((agent) => agent.prompt('Remember this sentence, please.').result))
    agents.push(...batch)
    await clock.advance(idleUnloadMs)
    verify(batch.every((agent) => !agent.isLoaded))
  }
  // The process first grows to what a batch at work takes.
  const warm = 4_000
  while (agents.length < warm) await spawn(500)
  const before = await memory()
  const began = now()
  while (agents.length < warm + count) await spawn(Math.min(500, warm + count - agents.length))
  const seconds = (now() - began) / 1000
  const after = await memory()
  console.log(
    `${format(count)} agents, each prompted once and unloaded: ${format((after.heap - before.heap) / count, 0)} bytes of heap an agent, ${format((after.rss - before.rss) / count, 0)} bytes resident (${format(seconds, 0)} s to spawn, run and unload them)`,
  )
  verify(clock.pending === 0)

  const wakes: number[] = []
  const reads: number[] = []
  for (let n = 0; n < Math.min(woken, count); n += 1) {
    const agent = agents[Math.floor((n * agents.length) / woken)]!
    let start = now()
    const lines = (await readFile(join(dir, `${agent.id}.jsonl`), 'utf8')).trim().split('\n')
    verify(lines.map((line): unknown => JSON.parse(line)).length === agent.lastSeq)
    reads.push((now() - start) * 1000)
    start = now()
    await agent.wake()
    wakes.push((now() - start) * 1000)
    verify(agent.conversation.trunk().length === 2)
    if (n % 500 === 499) await clock.advance(idleUnloadMs)
  }
  console.log(
    `waking: ours p50 ${format(median(wakes), 0)} µs, p99 ${format(p99(wakes), 0)} µs; reading and parsing the log alone p50 ${format(median(reads), 0)} µs, p99 ${format(p99(reads), 0)} µs; ratio ${format(median(wakes) / median(reads), 1)}`,
  )
  await runtime.close()
  await rm(dir, { recursive: true, force: true })
}

function p99(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0
}

async function memory(): Promise<{ heap: number; rss: number }> {
  for (let n = 0; n < 3; n += 1) {
    await new Promise((resolve) => setImmediate(resolve))
    globalThis.gc!()
  }
  const { heapUsed, rss } = process.memoryUsage()
  return { heap: heapUsed, rss }
}

function verify(holds: boolean): void {
  if (!holds) throw new Error('other work was done than asked')
}
