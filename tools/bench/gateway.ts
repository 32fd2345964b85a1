/**
 * Measures the delay that a gateway adds to each event: one client receives the same pieces of replies from the worker itself and through a
 * gateway, each in a process of its own, and notes for every piece how much later it came through the gateway. The order of arrival does
 * not affect the sum.
 *
 *   node tools/bench/gateway.ts [--agents 20] [--pieces 300] [--every 5]
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { connect } from '../../src/client.ts'
import { createRuntime, defineAgent, policyModel, serveGateway } from '../../src/index.ts'
import { sqliteStore } from '../../src/sqlite.ts'
import { format, now } from './measure.ts'

const secret = 'a secret of workers and gateways, long enough'
const token = 'a token of the bench, long enough'
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    agents: { type: 'string', default: '20' },
    pieces: { type: 'string', default: '300' },
    every: { type: 'string', default: '5' },
  },
})
const [how, file] = positionals
const [agents, pieces, every] = [Number(values.agents), Number(values.pieces), Number(values.every)] as const

/** Says numbers, one after another, each after a pause. */
const teller = defineAgent({
  name: 'teller',
  model: {
    ...policyModel(() => ''),
    async *stream() {
      const said: string[] = []
      for (let piece = 1; piece <= pieces; piece += 1) {
        await new Promise((resolve) => setTimeout(resolve, every))
        said.push(`${piece} `)
        yield { type: 'text.delta', text: `${piece} ` }
      }
      const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
      yield { type: 'done', reply: { content: [{ type: 'text', text: said.join('') }], stopReason: 'stop', usage } }
    },
  },
})

if (how === 'worker') {
  const runtime = await createRuntime({ store: sqliteStore(file!) })
  const server = await runtime.serve({
    definitions: [teller],
    gatewaySecret: secret,
    tokens: { [token]: 'admin' },
    inspector: false,
  })
  process.send!(server.url)
} else if (how === 'gateway') {
  const gateway = await serveGateway({
    directory: sqliteStore(file!),
    secret,
    tokens: { [token]: 'admin' },
    inspector: false,
  })
  process.send!(gateway.url)
} else await measure()

async function measure(): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'escapement-bench-'))
  const children: ChildProcess[] = []
  const start = async (what: 'worker' | 'gateway'): Promise<string> => {
    const options = ['--pieces', values.pieces, '--every', values.every]
    const child = fork(import.meta.filename, [what, join(dir, 'agents.db'), ...options])
    children.push(child)
    return String((await once(child, 'message'))[0])
  }
  try {
    const direct = connect(await start('worker'), { token })
    const byGateway = connect(await start('gateway'), { token })
    const later: number[] = []
    const work = Array.from({ length: agents }, async (_, index) => {
      const id = `a${index}`
      const agent = await direct.spawn('teller', { id })
      const same = byGateway.agent(id)
      const [here, there] = [new Map<string, number>(), new Map<string, number>()]
      const noting = (times: Map<string, number>) => (event: { readonly type: string; readonly text?: string }) => {
        // Pieces that are sent together come as one: its last number is the piece.
        if (event.type === 'reply.delta') times.set(event.text!.trim().split(' ').at(-1)!, now())
      }
      agent.subscribe(noting(here))
      same.subscribe(noting(there))
      const run = agent.prompt('Tell.')
      await Promise.all([run.result, ended(same)])
      for (const [piece, at] of here) {
        const other = there.get(piece)
        if (other !== undefined) later.push(other - at)
      }
    })
    await Promise.all(work)
    const sorted = later.toSorted((a, b) => a - b)
    const at = (part: number): string => format(sorted[Math.floor(sorted.length * part)]!, 2)
    console.log(
      `${sorted.length} events of ${agents} agents, through a gateway later by: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms`,
    )
    direct.close()
    byGateway.close()
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await rm(dir, { recursive: true, force: true })
  }
}

async function ended(agent: { events(): AsyncIterable<{ readonly type: string }> }): Promise<void> {
  for await (const { type } of agent.events()) if (type === 'run.end') return
}
