// Agents on several processes, one of which is killed while it works: another one goes on with its agents, and every prompt is answered.
// With the Restate server (npm install @restatedev/restate-server-linux-x64, 220 MB) the engine places the agents and goes on by itself;
// without it this file does that, with the same workers on one SQLite file. This file is the agents' module, and with "worker" a worker.
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { connect } from '../src/client.ts'
import { createRuntime, defineAgent, defineTool, policyModel } from '../src/index.ts'
import { listSessions } from '../src/sessions.ts'
import { sqliteStore } from '../src/sqlite.ts'

const wind = defineTool({
  name: 'wind',
  description: 'Winds a clock.',
  input: z.object({ turns: z.int() }),
  // What a killed worker had begun, another one may do again.
  effects: 'idempotent',
  run: async ({ turns }) => {
    await new Promise((resolve) => setTimeout(resolve, 400))
    return `${turns} turns`
  },
})

/** In place of a language model: it winds three times, and says so. */
const model = policyModel(({ messages }) => {
  const results = messages.filter(({ role }) => role === 'toolResult').length
  return results < 3
    ? { toolCalls: [{ name: 'wind', input: { turns: results + 1 } }] }
    : 'The clock is wound: 1, 2 and 3 turns.'
})

export const keeper = defineAgent({ name: 'keeper', model, tools: [wind] })

const clocks = ['tower', 'hall', 'kitchen', 'cuckoo']

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'cluster-'))
  const file = join(folder, 'agents.db')
  try {
    const isDone = await withEngine(folder, file)
    if (!isDone) await withoutEngine(file)
    const store = sqliteStore(file)
    const sessions = (await listSessions(store)).toSorted((a, b) => (a.id < b.id ? -1 : 1))
    for (const { id, runs, turns, last } of sessions)
      console.log(`${id}: ${last?.stopReason} in run ${runs}, ${turns} turns`)
    const answered = sessions.filter(({ last }) => last?.stopReason === 'stop')
    console.log(`${answered.length} of ${clocks.length} prompts are answered.`)
    await store.close()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** With an engine, by `escapement cluster`; `false`: there is none here. */
async function withEngine(folder: string, file: string): Promise<boolean> {
  const program = join(import.meta.dirname, '..', 'packages', 'cli', 'src', 'main.ts')
  const options = ['--workers', '2', '--logs', `sqlite:${file}`, '--dir', folder, '--no-config', '--json']
  const engine = process.env['RESTATE_SERVER']
  if (engine !== undefined) options.push('--engine', engine)
  const cluster = spawn(process.execPath, [program, 'cluster', import.meta.filename, ...options], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(cluster, 'exit')
  const pids: number[] = []
  createInterface(cluster.stderr).on('line', (line) => {
    if (line.includes('PACKAGE_MISSING'))
      console.log('The Restate server is not installed: the same without an engine.')
    else if (line.startsWith('{'))
      heard(JSON.parse(line) as { type: string; worker: string; how?: string; pid?: number })
    else console.log(line)
  })
  const heard = ({ type, worker, pid, how }: { type: string; worker: string; how?: string; pid?: number }): void => {
    if (type === 'worker.up') pids.push(pid!)
    if (type === 'worker.gone') console.log(`${worker} has ended ${how}`)
  }
  const [first] = (await Promise.race([
    once(createInterface(cluster.stdout), 'line'),
    ended.then(() => []),
  ])) as string[]
  if (first === undefined) return false
  try {
    const { url } = JSON.parse(first) as { url: string }
    console.log(`${clocks.length} prompts, ${pids.length} workers and an engine`)
    const client = connect(url)
    const agents = await Promise.all(clocks.map((clock) => client.spawn('keeper', { id: clock })))
    const answers = agents.map((agent) => agent.prompt(`Wind the ${agent.id} clock.`).result)
    await new Promise((resolve) => setTimeout(resolve, 900))
    process.kill(pids[0]!, 'SIGKILL')
    for (const { text } of await Promise.all(answers)) console.log(text)
    client.close()
  } finally {
    cluster.kill('SIGINT')
    await ended
  }
  return true
}

/** Without an engine: whoever asks sees that a worker is gone, and asks another one. */
async function withoutEngine(file: string): Promise<void> {
  const workers = [startWorker(file), startWorker(file)]
  console.log(`${clocks.length} prompts, ${workers.length} workers on one file`)
  const answers = clocks.map(async (clock, index) => {
    const order = index % 2 === 0 ? workers : workers.toReversed()
    for (const worker of order) if (await asked(worker, clock)) return
    throw new Error(`nobody has wound the ${clock} clock`)
  })
  await once(workers[0]!, 'message') // that it has begun to wind
  console.log('a worker is killed')
  workers[0]!.kill('SIGKILL')
  await Promise.all(answers)
  workers[1]!.disconnect()
  await once(workers[1]!, 'exit')
}

const startWorker = (file: string): ChildProcess => fork(import.meta.filename, ['worker', file])

/** Has a worker answer; `false`: it died before. */
function asked(worker: ChildProcess, clock: string): Promise<boolean> {
  return new Promise((resolve) => {
    worker.on('message', (answer) => answer === clock && resolve(true))
    worker.once('exit', () => resolve(false))
    worker.send(clock)
  })
}

/** A worker: it opens an agent, which goes on where the log ends, and asks it what its log does not have yet. */
async function work(file: string): Promise<void> {
  const runtime = await createRuntime({ store: sqliteStore(file) })
  process.on('disconnect', () => void runtime.close())
  const answer = async (clock: string): Promise<void> => {
    const agent = await runtime.open(clock, keeper, { wait: 10_000 })
    agent.subscribe(({ type }) => type === 'tool.start' && process.send?.('begun'))
    if (!(await agent.wasAsked(clock)))
      agent.dispatch(
        { type: 'agent.prompt', agentId: clock, content: `Wind the ${clock} clock.` },
        { requestId: clock },
      )
    await agent.settled()
    process.send?.(clock)
  }
  process.on('message', (clock: string) => void answer(clock))
}

if (process.argv[1] === import.meta.filename) await (process.argv[2] === 'worker' ? work(process.argv[3]!) : main())
