import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { connect } from '../../../../src/client.ts'
import type { AgentEvent } from '../../../../src/index.ts'
import { freePort } from '../../../../test/support/freePort.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { linesOf, tempFolder, until } from './opened.ts'

async function life({ cleanup, signal }: CaseContext, folder: string, port: number) {
  const file = join(import.meta.dirname, 'servers', 'serveChild.ts')
  const child = spawn(process.execPath, [file, folder, String(port)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const gone = new Promise<void>((resolve) => void child.once('exit', () => resolve()))
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await gone
  }
  cleanup(kill)
  let said = ''
  child.stdout.on('data', (text) => (said += String(text)))
  await until(() => said.includes('ready'), signal)
  return kill
}

describe('a sub-agent with a server of its own', (it) => {
  it(
    'is asked about, approved and reverted over the bridge, across a crash of the process',
    { timeoutMs: 40_000 },
    async (context) => {
      const folder = await tempFolder(context)
      const port = await freePort()
      const kill = await life(context, folder, port)
      const client = connect(`ws://127.0.0.1:${port}/bridge`, { retry: { baseMs: 20, maxMs: 100 } })
      context.cleanup(() => client.close())
      await client.ready
      const agent = await client.spawn('boss', { id: 'b1' })
      const events: AgentEvent[] = []
      agent.subscribe((event) => void events.push(event), { descendants: true })
      void agent.prompt('Go.').result.catch(() => {})
      await until(() => events.some(({ type }) => type === 'approval.requested'), context.signal)
      // The server was started for its list; nothing was called.
      const journal = join(folder, 'journal')
      assert.equal((await linesOf(journal)).length, 1)
      await kill()
      await life(context, folder, port)
      await until(async () => (await client.ready.then(() => true)) && client.status === 'open', context.signal)
      agent.resume()
      const asked = events.find((event) => event.type === 'approval.requested')!
      await until(async () => (await agent.snapshot()).asked!.length > 0, context.signal)
      await agent.decide(asked.key, 'approve')
      await until(
        () => events.some((event) => event.type === 'run.end' && event.stopReason === 'stop' && event.agentId === 'b1'),
        context.signal,
      )
      const replies = events.flatMap((event) =>
        event.type === 'reply.end' && event.agentId === 'b1' ? [event.message] : [],
      )
      assert.match(JSON.stringify(replies.at(-1)), /It says: I sought in vain\./)
      assert.ok(events.some((event) => event.type === 'revert.applied' && event.agentId !== 'b1'))
      // One start in each life, and one call. The first server may still be ending beside the second: its process was killed.
      assert.equal(
        (await linesOf(journal)).map((line) => line.split(' ')[0]).filter((word) => word !== 'beside'),
        ['start', 'start', 'call'],
      )
    },
  )
})
