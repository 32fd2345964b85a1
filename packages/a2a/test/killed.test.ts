import { textOf } from '../../../src/protocol/messages.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { ends, Lives, type Life } from '../../../test/support/lives.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { callerOf } from '../../acp/test/client/callerHarness.ts'
import { serveAgents } from '../../bridge/test/server/bridgeHarness.ts'
import { a2a } from '../src/server/a2a.ts'
import { a2aAgent } from '../src/client/a2aAgent.ts'
import { clerkWith } from './clerk.ts'

/** Answers whatever waits, until the run has ended. */
async function finish({ agent, logs }: Life): Promise<{ log: readonly LogRecord[]; said: string }> {
  const over = ends(agent)
  const decide = (): void => {
    for (const { key } of agent.pending()) agent.decide(key, { value: true })
  }
  const stop = agent.subscribe((event) => {
    if (event.type === 'state.changed' && event.state === 'paused') setImmediate(decide)
  })
  if (agent.state !== 'idle' || agent.pending().length > 0) {
    decide()
    await over
  }
  stop()
  const { a1 } = await logs()
  return { log: a1!, said: textOf(agent.conversation.trunk().at(-1)!.message.content) }
}

describe('a caller of an A2A agent whose process is killed after every record', (it) => {
  it('finds the task, which was sent once, and does not answer for people', { timeoutMs: 60_000 }, async (context) => {
    const paid: string[] = []
    const clerk = clerkWith(paid)
    const { server, runtime } = await serveAgents(context, [clerk], { endpoints: [a2a({ definitions: [clerk] })] })
    const url = `http://127.0.0.1:${server.port}/a2a/clerk`
    const caller = callerOf(a2aAgent(url, { name: 'clerk', description: 'Pays.', backoffMs: 1 }), 'pay the bill')
    const lives = new Lives(context)
    const whole = await finish(await lives.begin(caller, 'go'))
    assert.is(whole.said, 'Done: paid 5')
    assert.is(paid.length, 1)
    const first = whole.log.findIndex(({ type }) => type === 'tool.start') + 1
    for (let length = first; length < whole.log.length - 1; length++) {
      const before = whole.log.slice(0, length)
      const { said } = await finish(await lives.resume(caller, { a1: before }, { continue: true }))
      assert.is(said, whole.said, `after ${length} records`)
      assert.equal([paid.length, runtime.agents().length], [1, 1], `after ${length} records`)
    }
  })
})
