import { connect } from '../../../../bridge/src/client/connect.ts'
import { serveAgents } from '../../../../bridge/test/server/bridgeHarness.ts'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import type { LogRecord } from '../../../../../src/protocol/records.ts'
import { leftOf } from '../../../src/inspector/model/agent/eventList.ts'
import { FollowedAgent } from '../../../src/inspector/model/agent/followedAgent.ts'
import { FrameBatch } from '../../../src/inspector/model/agent/frameBatch.ts'
import { assert, describe, type CaseContext } from '../../../../../test/support/suite.ts'

const talker = defineAgent({ name: 'talker', model: policyModel(() => 'hello'), captureTurnRequests: true })

/** An agent with two turns, as the page follows it. */
async function followed(context: CaseContext) {
  const { runtime, server, store } = await serveAgents(context, [talker])
  const agent = await runtime.spawn(talker, { id: 'a' })
  await agent.prompt('first words').result
  await agent.prompt('second words').result
  const client = connect(server.url)
  context.cleanup(() => client.close())
  const view = new FollowedAgent(client, 'a', {
    batch: new FrameBatch((flush) => {
      const timer = setImmediate(flush)
      return () => clearImmediate(timer)
    }),
  })
  context.cleanup(() => view.close())
  const until = async (isSo: (state: FollowedAgent['state']['value']) => boolean) => {
    while (!isSo(view.state.value)) await new Promise((resolve) => setImmediate(resolve))
    return view.state.value
  }
  return { agent, view, until, store }
}

const isCaptured = ({ type }: { readonly type: string }): boolean => type === 'turn.captured'

/** All that captured requests say. */
const saidBy = (records: readonly LogRecord[]): object[] =>
  records.flatMap((record) => {
    if (record.type !== 'turn.captured') return []
    const { seq, turnIndex, kept, messages, provenance, system, tools, settings } = record
    return [{ seq, turnIndex, kept, messages, provenance, system, tools, settings }]
  })

describe('the requests of an agent on the page', (it) => {
  it('are known by their turns, and read with all that they say once they are asked for', async (context) => {
    const { agent, view, until, store } = await followed(context)
    const before = await until(({ status }) => status === 'live')
    assert.is(before.areRequestsRead, false)
    assert.equal(
      before.requests.map(({ turnIndex, attempt, model }) => [turnIndex, attempt, model]),
      [
        [0, 1, 'embedded:policy'],
        [1, 1, 'embedded:policy'],
      ],
    )
    assert.equal(before.records.filter(isCaptured).map(leftOf), [1, 2])
    view.readRequests()
    const { requests, records } = await until(({ areRequestsRead }) => areRequestsRead)
    assert.match(JSON.stringify(requests[1]!.request.messages), /first words.*second words/)
    const logged: LogRecord[] = []
    for await (const record of store.read('a', 1)) logged.push(record)
    assert.equal(saidBy(records), saidBy(logged))
    assert.equal(records.filter(isCaptured).map(leftOf), [undefined, undefined])
    // What comes from now on comes whole.
    await agent.prompt('third words').result
    const after = await until(({ requests: now }) => now.length === 3)
    assert.is(after.areRequestsRead, true)
    assert.match(JSON.stringify(after.requests[2]!.request.messages), /third words/)
  })

  it('are read of an agent that has stopped, too', async (context) => {
    const { agent, view, until } = await followed(context)
    await agent.stop()
    await until(({ status, chartState }) => status === 'live' && chartState === 'stopped')
    view.readRequests()
    const { requests } = await until(({ areRequestsRead }) => areRequestsRead)
    assert.match(JSON.stringify(requests[0]!.request.messages), /first words/)
  })
})
