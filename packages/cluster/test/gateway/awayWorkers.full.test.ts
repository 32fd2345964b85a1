import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../../bridge/src/client/connect.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { serveGateway } from '../../src/serveGateway.ts'
import { sqliteStore } from '../../../sqlite/src/sqliteStore.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { Heard, logOf } from '../../../bridge/test/server/bridgeHarness.ts'
import { hasty, secret } from './fleet.ts'

const program = join(import.meta.dirname, 'workerProcess.ts')

async function startWorker({ cleanup }: CaseContext, file: string, hangs: boolean): Promise<[ChildProcess, string]> {
  const child = spawn(process.execPath, [program, file, secret, hangs ? 'hangs' : ''], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  cleanup(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const [data] = (await once(child.stdout, 'data')) as [Buffer]
  return [child, data.toString().trim()]
}

describe('clients whose only worker is killed in the middle of their runs', (it) => {
  // By the clock of the gateway, which runs as many times as fast.
  for (const [seconds, times] of [
    [20, 1],
    [60, 5],
    [300, 20],
  ] as const)
    it(`hear every record once after ${seconds} s without any`, { timeoutMs: 90_000 }, async (context) => {
      const dir = await mkdtemp(join(tmpdir(), 'escapement-away-'))
      context.cleanup(() => rm(dir, { recursive: true, force: true }))
      const file = join(dir, 'agents.db')
      const [child, url] = await startWorker(context, file, true)
      const placed = { url }
      const directory = sqliteStore(file)
      const clock = times === 1 ? systemClock : hasty(times)
      const gateway = await serveGateway({ directory, secret, place: () => placed.url, clock })
      context.cleanup(async () => {
        await gateway.close()
        await directory.close()
      })
      const clients = await Promise.all(
        ['a1', 'a2', 'a3'].map(async (id) => {
          const client = connect(gateway.url)
          context.cleanup(() => client.close())
          const agent = await client.spawn('storyteller', { id })
          const heard = new Heard()
          agent.subscribe(heard.listen, { fromSeq: 1 })
          const run = agent.prompt('Tell me a story.')
          await heard.until((event) => event.type === 'reply.delta' && event.text.includes('upon'))
          return { id, client, agent, heard, run }
        }),
      )
      const settled: string[] = []
      for (const { id, run } of clients) void run.result.then(() => settled.push(id))
      child.kill('SIGKILL')
      await new Promise((resolve) => setTimeout(resolve, (seconds * 1_000) / times))
      assert.equal([settled, clients.map(({ client }) => client.status)], [[], Array(3).fill('reconnecting')])
      const meanwhile = clients.map(({ agent }) => agent.prompt('And then?'))
      placed.url = (await startWorker(context, file, false))[1]
      for (const [index, { id, run, heard, client }] of clients.entries()) {
        assert.is((await run.result).text, 'once upon a time')
        assert.is((await meanwhile[index]!.result).text, 'once upon a time')
        const log = (await logOf(directory, id)) as AgentEvent[]
        await heard.until((event) => event.type === 'run.end' && event.seq === log.at(-1)!.seq)
        assert.equal(heard.logged, log)
        assert.is(client.status, 'open')
      }
    })
})
