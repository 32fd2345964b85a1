/**
 * Measures the cost of folding: the decision with every reply whether a fold is due, a fold itself and the request after it, counting
 * notes, reading the names again after a restart, their memory, and a turn of an agent with the flag on, before anything is folded, against
 * one without it.
 *
 *   node --expose-gc tools/bench/fold.ts [--steps 10000]
 */
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { RequestAssembler } from '../../src/conversation/request/assembleRequest.ts'
import { Conversation } from '../../src/conversation/tree/conversation.ts'
import { readNames } from '../../src/conversation/names/nameIndex.ts'
import {
  defaultFoldPolicy,
  foldLevels,
  nextFold,
  planAskedFold,
  planFold,
} from '../../src/conversation/brakes/fold/planFold.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { defaultTagPolicy } from '../../src/conversation/request/visibleTags.ts'
import { createRuntime, defineAgent, defineTool, type LogRecord } from '../../src/index.ts'
import { format, median, now, paired } from './measure.ts'
import { randomNumbers } from '../../packages/evaluation/src/statistics/randomNumbers.ts'
import { benchModel, type Workload } from './workload.ts'

const { values } = parseArgs({ options: { steps: { type: 'string', default: '10000' } } })
const steps = Number(values.steps)
const policy = { ...defaultFoldPolicy, cap: 120_000 }

/** CPU milliseconds of something that does not wait. */
function cpuMs(task: () => void): number {
  const before = process.cpuUsage()
  task()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

/** A conversation of steps that each read a file: some 3,000 characters, with names that come again and some that do not. */
class Working {
  readonly conversation = new Conversation()
  readonly records: LogRecord[] = []
  readonly #random = randomNumbers(1)
  #steps = 0

  constructor() {
    const content = [{ type: 'text', text: 'the task' }]
    this.add({ type: 'message.added', ...this.#place(), message: { role: 'user', content, source: 'prompt' } })
  }

  add(record: Record<string, unknown>): void {
    const at = { v: 3, seq: this.records.length + 1, time: 0, runId: 'bench/r0', turnIndex: this.#steps }
    this.records.push({ ...at, ...record } as LogRecord)
    this.conversation.apply(this.records.at(-1)!)
  }

  step(): void {
    const number = (this.#steps += 1)
    const callId = `c${number}`
    const place = this.#place()
    const input = { path: this.#path(), from: number, to: number + 80 }
    const message = {
      role: 'assistant',
      content: [{ type: 'toolCall', callId, name: 'read_file', input }],
      stopReason: 'toolUse',
      usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      model: 'bench',
    }
    this.add({ type: 'reply.end', ...place, message, costUsd: 0, estimatedTokens: 0 })
    const content = [{ type: 'text', text: this.#text(number) }]
    const result = { role: 'toolResult', callId, toolName: 'read_file', content, isError: false }
    const at = { nodeId: place.nodeId + 1, parentId: place.nodeId }
    this.add({ type: 'tool.end', ...at, callId, key: callId, name: 'read_file', message: result })
  }

  #place(): { nodeId: number; parentId: number | null } {
    return { nodeId: this.conversation.lastNodeId + 1, parentId: this.conversation.head }
  }

  #pick(count: number): number {
    return Math.floor(this.#random() * count)
  }

  #path(): string {
    return `src/area${this.#pick(40)}/part${this.#pick(50)}.ts`
  }

  #text(number: number): string {
    let text = ''
    while (text.length < 3_000) {
      const name = this.#random() < 0.1 ? `onlyHere${number}At${text.length}` : `known_name_${this.#pick(5_000)}`
      text += `  const result = await ${name}(given, of, what, was, read, before) // see ${this.#path()}\n`
    }
    return text
  }
}

interface Fold {
  readonly plan: number
  readonly request: number
  readonly rolled: boolean
}

/** Works until there are so many steps, and folds whenever it is due. */
function work(working: Working, until: number, folds: Fold[]): void {
  const { conversation } = working
  const frame = { system: 'bench', tools: [], settings: {}, braking: defaultTagPolicy }
  const assembler = new RequestAssembler(conversation, frame)
  for (let turn = conversation.path.length >> 1; turn < until; turn++) {
    working.step()
    const { request, high } = foldLevels(conversation, policy, 0)
    if (request <= high) continue
    assembler.assemble(turn)
    let plan: ReturnType<typeof planFold>
    const planned = cpuMs(() => (plan = planFold(conversation, policy, 0, `f${turn}`)))
    if (plan === undefined) continue
    const { outcome } = plan
    working.add({ type: 'prune.applied', ...outcome })
    const rendered = cpuMs(() => assembler.assemble(turn))
    folds.push({ plan: planned, request: rendered, rolled: outcome.rolled !== undefined })
  }
}

const heapMb = (): number => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 1e6
}

console.log('A turn with a mocked model, nothing folded yet')
const echo = defineTool({
  name: 'echo',
  description: 'Gives back a number.',
  input: z.object({ n: z.number() }),
  run: ({ n }) => String(n),
})
const run = async (workload: Workload, braking: { recall: true } | { fold: true }): Promise<void> => {
  const runtime = await createRuntime()
  const agent = await runtime.spawn(defineAgent({ name: 'bench', model: benchModel(workload), tools: [echo], braking }))
  await agent.prompt('go').result
  await runtime.close()
}
const workload: Workload = { turns: 100, deltas: 20 }
const pair = await paired(
  () => run(workload, { fold: true }),
  () => run(workload, { recall: true }),
  61,
)
console.log(
  `  with fold ${format(pair.ours / workload.turns)} µs, without ${format(pair.floor / workload.turns)} µs, ratio ${format(pair.ratio, 3)}`,
)

console.log('\nDeciding with a reply whether a fold may be due (foldLevels and nextFold), median of 2,000')
const working = new Working()
const folds: Fold[] = []
for (const nodes of [10, 1_000, 2 * steps]) {
  work(working, nodes / 2, folds)
  const times = Array.from({ length: 2_000 }, () => {
    const start = now()
    foldLevels(working.conversation, policy, 0)
    nextFold(working.conversation, policy, 0)
    return (now() - start) * 1_000
  })
  console.log(`  at ${format(nodes).padStart(6)} nodes: ${format(median(times)).padStart(6)} µs`)
}

const row = (title: string, some: readonly Fold[]): void => {
  const [plans, requests] = [some.map(({ plan }) => plan), some.map(({ request }) => request)]
  if (some.length === 0) return
  console.log(
    `  ${title.padEnd(26)} ${String(some.length).padStart(4)} folds: plan ${format(median(plans))} ms (at most ${format(Math.max(...plans))}), next request ${format(median(requests))} ms (at most ${format(Math.max(...requests))})`,
  )
}
const late = folds.slice(-Math.ceil(folds.length / 5))
console.log(`\nA fold, CPU time, over ${format(steps)} steps`)
row('all', folds)
row('the last fifth', late)
row(
  'those that roll memos up',
  late.filter(({ rolled }) => rolled),
)

const changes = Array.from({ length: 1_000 }, (_, attempt) => {
  const start = now()
  working.add({ type: 'reply.reset', attempt, error: { code: 'OUTPUT_INVALID', message: 'no' }, repair: 'no' })
  return (now() - start) * 1_000
})
console.log(`\nCounting the notes again, as at every change of the trunk: ${format(median(changes))} µs`)

console.log('\nAfter a restart')
const before = heapMb()
const again = rebuildConversation(working.records)
const rebuilt = heapMb()
let longest = 0
let slices = 0
const all = cpuMs(() => {
  let start = now()
  for (const _ of readNames(again)) {
    longest = Math.max(longest, now() - start)
    slices += 1
    start = now()
  }
})
const read = heapMb()
console.log(
  `  names of ${format(working.records.length)} records read in ${format(all)} ms of CPU, ${format(slices)} slices of at most ${format(longest)} ms`,
)
if (globalThis.gc === undefined) console.log('  (memory: run with --expose-gc)')
else
  console.log(
    `  memory: conversation ${format(rebuilt - before)} MB beside the records, names ${format(read - rebuilt)} MB`,
  )
console.log(
  `  the first fold then: ${format(cpuMs(() => void planAskedFold(again, policy, 0, { id: 'f', by: 'person', fold: true }, new Set())))} ms`,
)
