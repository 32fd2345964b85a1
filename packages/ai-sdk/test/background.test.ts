import { assert, describe } from '../../../test/support/suite.ts'
import { begun, event, folded, reply, toolCall, toolEnd, user } from './chatEvents.ts'

describe('a call in the background, in a chat', (it) => {
  const dataOf = ({ exchange }: ReturnType<typeof folded>, type: string): unknown[] =>
    exchange.entries.flatMap((entry) => (entry.type === type && 'data' in entry ? [entry.data] : []))
  const sent = () => {
    const chat = folded(begun, reply(toolCall('c1')))
    chat.take(
      event('tool.start', { callId: 'c1', name: 'build', input: {}, background: 'b1' }),
      toolEnd('c1', 'Started as b1.'),
    )
    return chat
  }

  it('is at work until it has reported, in one part', () => {
    for (const isError of [false, true]) {
      const chat = sent()
      const at = { type: 'background', id: 'b1', name: 'build' }
      assert.equal(dataOf(chat, 'data-escapement'), [{ ...at, status: 'working' }])
      chat.take(event('call.reported', { callId: 'c1', id: 'b1', name: 'build', content: [], isError }))
      assert.equal(dataOf(chat, 'data-escapement'), [{ ...at, status: isError ? 'failed' : 'done' }])
    }
  })

  it('shows its report as one of the call', () => {
    const chat = sent()
    const provenance = { type: 'report', agentId: 'a', name: 'build', callId: 'c1', background: 'b1' }
    chat.take(user(5, 'Report of b1', provenance))
    const [report] = dataOf(chat, 'data-report')
    assert.equal(report, { agentId: 'a', name: 'build', background: 'b1', text: 'Report of b1' })
  })
})
