import { hasCode } from '../../../../src/protocol/errors.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { assert, type CaseContext } from '../../../../test/support/suite.ts'
import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { hostMachine } from '../../src/hosts/hostMachine.ts'
import { day, orderHost } from './orderMachine.ts'

/** Keeps a machine in a store that two runtimes open, as two processes would. */
export async function keepsMachines(context: CaseContext, open: () => Store): Promise<void> {
  const clock = simulatedClock()
  const stores: Store[] = []
  const order = orderHost({ pay: async () => 'paid' })
  const begin = async () => {
    const store = open()
    stores.push(store)
    const runtime = await createRuntime({ store, clock })
    context.cleanup(() => runtime.close())
    return runtime
  }
  const first = await begin()
  const second = await begin()
  const hosted = await hostMachine(first, order, { id: 'o', input: { cents: 5 } })
  await assert.rejects(
    hostMachine(second, order, { id: 'o' }),
    (thrown: unknown) => hasCode(thrown, 'AGENT_ELSEWHERE') || hasCode(thrown, 'STORE_LOCKED'),
  )
  assert.is(hosted.view.value, 'open')
  await hosted.close()
  const timers = stores[1]!.timers!
  assert.equal(await timers.due(clock.now()), [])
  assert.equal(await timers.due(clock.now() + day), [{ agentId: 'o', due: clock.now() + day }])
  await clock.advance(day)
  const waker = second.wake({ definitions: [], machines: [order], everyMs: 60_000 })
  await clock.advance(0)
  // The stores take their own time.
  while ((await timers.due(clock.now())).length > 0) {
    await new Promise((resolve) => setTimeout(resolve, 5))
    await clock.advance(0)
  }
  await waker.close()
  const again = await hostMachine(first, order, { id: 'o' })
  assert.is(again.snapshot.context.reminders, 1)
  await again.send({ type: 'pay' }, { requestId: 'r' })
  const { receipt, letter } = await again.done
  assert.equal([receipt, letter], ['paid', 'dear customer 1'])
  assert.equal(await timers.due(clock.now() + 10 * day), [])
  const done = await hostMachine(second, order, { id: 'o' })
  assert.is((await done.done).receipt, 'paid')
}
