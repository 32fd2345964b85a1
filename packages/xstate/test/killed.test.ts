import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { waitFor } from 'xstate'
import { storeFolder } from '../../stores/test/storeFolder.ts'
import { assert, type CaseContext, describe } from '../../../test/support/suite.ts'
import { actorOf, asker, begin, ending, held, talker } from './logicParts.ts'

const script = fileURLToPath(new URL('killedChild.ts', import.meta.url))

/** A process with an actor that is killed as soon as that has come so far; what it had persisted before, and its store. */
async function killed(context: CaseContext, kind: 'replying' | 'held' | 'ended') {
  const { dir, store } = await storeFolder(context)
  const child = spawn(process.execPath, [script, dir, kind], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  context.cleanup(() => void child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const snapshot: unknown = JSON.parse(String((await lines.next()).value))
  assert.is((await lines.next()).value, 'ready')
  child.kill('SIGKILL')
  await exited
  return { snapshot, runtime: await begin(context, undefined, { store: store() }) }
}

describe('an actor of a killed process, restored in the next one', (it) => {
  it('goes on with a reply', { timeoutMs: 10_000 }, async (context) => {
    const { snapshot, runtime } = await killed(context, 'replying')
    const { model, definition } = held()
    model.release()
    const { stopReason, text } = await ending(actorOf(runtime, definition, {}, { snapshot }).start())
    assert.equal([stopReason, text], ['stop', 'well done 1'])
  })

  it('still holds a call', { timeoutMs: 10_000 }, async (context) => {
    const { snapshot, runtime } = await killed(context, 'held')
    const actor = actorOf(runtime, asker('talker'), {}, { snapshot }).start()
    const { pending } = await waitFor(actor, (state) => state.pending.length === 1)
    actor.send({ type: 'decide', callId: pending[0]!.key, decision: 'approve' })
    assert.is((await ending(actor)).text, 'it is done')
  })

  it('has the result of a run that had ended, without asking again', { timeoutMs: 10_000 }, async (context) => {
    const { snapshot, runtime } = await killed(context, 'ended')
    const { model, definition } = held()
    assert.is((await ending(actorOf(runtime, definition, {}, { snapshot }).start())).text, 'answer 1')
    assert.is(model.requests.length, 0)
  })

  it('asks what was not asked yet', async (context) => {
    const runtime = await begin(context)
    const snapshot = { status: 'active', agentId: 't1', request: { id: 'r1', content: 'go' }, queued: [] }
    assert.is((await ending(actorOf(runtime, talker, {}, { snapshot }).start())).text, 'answer 1')
  })
})
