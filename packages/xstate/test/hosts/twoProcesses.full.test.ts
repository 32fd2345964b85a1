import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { assert, type CaseContext, describe } from '../../../../test/support/suite.ts'
import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { storeFolder } from '../../../stores/test/storeFolder.ts'
import { hostMachine } from '../../src/hosts/hostMachine.ts'
import { counter, recordsOf } from './hostParts.ts'
import { openShared, sharedKinds, talker, type SharedKind } from './sharedHost.ts'

const script = fileURLToPath(new URL('holdingHost.ts', import.meta.url))

/** Another process that has the machine "c", which it gave one event, and the agent "a". */
async function holder(context: CaseContext, kind: SharedKind, dir: string) {
  const child = spawn(process.execPath, [script, kind, dir], { stdio: ['ignore', 'pipe', 'inherit'] })
  context.cleanup(() => void child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  assert.is((await lines.next()).value, 'ready')
  const says = async (): Promise<unknown> => (await lines.next()).value
  return { child, says }
}

async function refusalOf(work: Promise<unknown>): Promise<RuntimeError> {
  const thrown = await work.then(
    () => assert.unreachable('nothing was refused'),
    (error: unknown) => error,
  )
  assert.instance(thrown, RuntimeError)
  return thrown as RuntimeError
}

for (const kind of sharedKinds)
  describe(`a machine that two processes want, in ${kind}`, (it) => {
    it(
      'is refused to the second as an agent is, and goes on there once the first was killed',
      {
        timeoutMs: 60_000,
      },
      async (context) => {
        const { dir } = await storeFolder(context)
        const { child: first } = await holder(context, kind, dir)
        const store = openShared(kind, dir)
        const runtime = await createRuntime({ store })
        context.cleanup(() => runtime.close())
        const ofMachine = await refusalOf(hostMachine(runtime, counter(), { id: 'c' }))
        const ofAgent = await refusalOf(runtime.open('a', talker))
        assert.equal([ofMachine.code, ofAgent.code], ['AGENT_ELSEWHERE', 'AGENT_ELSEWHERE'])
        assert.match(ofMachine.message, '"c"')
        assert.match(ofMachine.message, `process ${first.pid}`)
        assert.equal(
          (await recordsOf(store, 'c')).map(({ type }) => type).filter((type) => type === 'host.event').length,
          1,
        )

        // One that waits has it once the other is gone; nothing is lost and nothing is taken twice.
        const waiting = hostMachine(runtime, counter(), { id: 'c', wait: 50_000 })
        const gone = once(first, 'exit')
        first.kill('SIGKILL')
        await gone
        const hosted = await waiting
        assert.is(hosted.snapshot.context.count, 1)
        await hosted.send({ type: 'add', by: 1 }, { requestId: 'first' })
        assert.is(hosted.snapshot.context.count, 1)
        await hosted.send({ type: 'add', by: 10 })
        assert.is(hosted.snapshot.context.count, 11)
      },
    )
  })

describe('a machine that is taken over from a process that lives', (it) => {
  it('is lost to that one by name, and takes no event of both', { timeoutMs: 60_000 }, async (context) => {
    const { dir } = await storeFolder(context)
    const { child: first, says } = await holder(context, 'a SQLite file', dir)
    const runtime = await createRuntime({ store: openShared('a SQLite file', dir) })
    context.cleanup(() => runtime.close())
    const hosted = await hostMachine(runtime, counter(), { id: 'c', takeOver: true })
    await hosted.send({ type: 'add', by: 10 })
    first.kill('SIGUSR2')
    assert.is(await says(), 'STORE_LEASE_LOST')
    await hosted.send({ type: 'add', by: 100 })
    assert.is(hosted.snapshot.context.count, 111)
  })
})
