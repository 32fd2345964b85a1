import { earlierChild, numberOf } from '../../src/machines/continuing.ts'
import { rebuildContext } from '../../src/machines/rebuildContext.ts'
import { assert, describe } from '../support/suite.ts'
import { AgentScript } from './agentScript.ts'

const policy = { agents: ['helper', 'other'], continuable: ['helper'] }
const call = (callId: string, input: object = {}, name = 'helper') => ({ callId, name, input })

describe('going on with an earlier sub-agent', (it) => {
  it('knows the numbers of those that a model called', () => {
    const ids = ['a.1', 'a.12', 'a.0', 'a.01', 'a.s1', 'a.1.1', 'b.1', 'a', 'a.', 'ab.1']
    assert.equal(
      ids.map((id) => numberOf('a', id)),
      [1, 12, ...Array.from({ length: 8 }, () => undefined)],
    )
  })

  it('takes no new number, in the log either', () => {
    const script = new AgentScript(policy)
    script.prompt('go')
    script.reply({ calls: [call('c1'), call('c2')] })
    script.finishCall('c1')
    script.finishCall('c2')
    const goOn = [
      call('c3', { continue: 'a.2' }),
      call('c4', { continue: 'a.9' }),
      call('c5', { continue: 'a.1' }, 'other'),
    ]
    script.reply({ calls: goOn })
    assert.equal(
      script.driver.recordsOf('tool.start').map(({ childId }) => childId),
      ['a.1', 'a.2', 'a.2', 'a.3', 'a.4'],
    )
    assert.equal([rebuildContext(script.driver.records).children, script.context.children], [4, 4])
  })

  it('is not asked for by nonsense', () => {
    const { context } = new AgentScript(policy)
    const asked = (input: unknown) => earlierChild({ ...context, children: 3 }, { name: 'helper', input })
    assert.equal(
      [asked(null), asked('a.1'), asked({}), asked({ continue: 1 }), asked({ continue: 'a.4' })],
      Array.from({ length: 5 }),
    )
    assert.is(asked({ continue: 'a.3' }), 'a.3')
  })
})
