import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { connect } from '../../../bridge/src/client/connect.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import { serveGateway } from '../../src/serveGateway.ts'
import { sqliteStore } from '../../../sqlite/src/sqliteStore.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { Heard, logOf } from '../../../bridge/test/server/bridgeHarness.ts'
import { secret } from './fleet.ts'
import { storyteller } from './storyteller.ts'

const patient = { timeoutMs: 60_000 }
const program = join(import.meta.dirname, 'workerProcess.ts')

/** A worker of its own process, and where it is reached. */
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

/** A gateway before one worker that hangs in the middle of each reply; a client that has heard half of one. */
async function inMidReply(context: CaseContext) {
  const dir = await mkdtemp(join(tmpdir(), 'escapement-killed-'))
  context.cleanup(() => rm(dir, { recursive: true, force: true }))
  const file = join(dir, 'agents.db')
  const [child, url] = await startWorker(context, file, true)
  const placed = { url }
  const directory = sqliteStore(file)
  const gateway = await serveGateway({ directory, secret, place: () => placed.url })
  context.cleanup(async () => {
    await gateway.close()
    await directory.close()
  })
  const client = connect(gateway.url)
  context.cleanup(() => client.close())
  const statuses: string[] = []
  const agent = await client.spawn('storyteller', { id: 'a1' })
  client.onStatus((status) => void statuses.push(status))
  const heard = new Heard()
  agent.subscribe(heard.listen, { fromSeq: 1 })
  const run = agent.prompt('Tell me a story.')
  await heard.until((event) => event.type === 'reply.delta' && event.text.includes('upon'))
  return { file, child, placed, directory, heard, run, statuses }
}

/** Text of the deltas of the last reply. */
function lastReply(events: readonly AgentEvent[]): string {
  const begins = events.findLastIndex(({ type }) => type === 'reply.start')
  return events
    .slice(begins)
    .flatMap((event) => (event.type === 'reply.delta' ? [event.text] : []))
    .join('')
}

/** Every record once, in order, and nothing that looks like a broken connection. */
async function checkHeard(lab: Awaited<ReturnType<typeof inMidReply>>): Promise<void> {
  const { stopReason, text } = await lab.run.result
  assert.equal([stopReason, text], ['stop', 'once upon a time'])
  const log = (await logOf(lab.directory, 'a1')) as AgentEvent[]
  await lab.heard.until((event) => event.type === 'run.end' && event.seq === log.at(-1)!.seq)
  assert.equal(lab.heard.logged, log)
  assert.equal(
    log.map(({ seq }) => seq),
    log.map((_, index) => index + 1),
  )
  assert.equal(lab.statuses, [])
}

describe('a worker in the middle of a reply', (it) => {
  it('that is killed is replaced by another one, and its client goes on without a gap', patient, async (context) => {
    const lab = await inMidReply(context)
    const [, url] = await startWorker(context, lab.file, false)
    lab.placed.url = url
    lab.child.kill('SIGKILL')
    await checkHeard(lab)
    assert.is(lastReply(lab.heard.events), 'once upon a time')
  })

  const onUnix = process.platform === 'win32' ? () => {} : it
  onUnix(
    'that is frozen loses its agent to who takes it, and writes nothing when it wakes',
    patient,
    async (context) => {
      const lab = await inMidReply(context)
      lab.child.kill('SIGSTOP')
      const definition = storyteller({ hangs: false })
      const runtime = await createRuntime({ store: sqliteStore(lab.file) })
      context.cleanup(() => runtime.close())
      await runtime.serve({ definitions: [definition], gatewaySecret: secret })
      await runtime.open('a1', definition, { takeOver: true })
      await checkHeard(lab)
      const before = await logOf(lab.directory, 'a1')
      lab.child.kill('SIGCONT')
      lab.child.kill('SIGTERM')
      await once(lab.child, 'exit')
      assert.equal(await logOf(lab.directory, 'a1'), before)
    },
  )
})
